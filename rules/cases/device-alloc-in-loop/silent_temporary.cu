#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/sort.h>

// Handed to the caller, who keeps it.
float* zeros(size_t n) {
  float* p;
  cudaMalloc(&p, n * sizeof(float));
  fill_kernel<<<32, 256>>>(p, n, 0.f);
  return p;
}

// Kept by the object.
void Layer::prepare(size_t n) {
  float* acts;
  cudaMalloc((void**)&acts, n * sizeof(float));
  fill_kernel<<<32, 256>>>(acts, n, 0.f);
  acts_ = acts;
}

// Given to the function, empty, or kept over calls.
void sort_rows(thrust::device_vector<float>& rows, int n) {
  static thrust::device_vector<float> scratch(1 << 20);
  thrust::device_vector<float> none;
  thrust::sort(rows.begin(), rows.end());
}

thrust::device_vector<float> load(const std::vector<float>& host) {
  thrust::device_vector<float> out(host.begin(), host.end());
  return out;
}

float* ones(size_t n) {
  float* p;
  cudaMalloc((void**)&p, n * sizeof(float));
  fill_kernel<<<32, 256>>>(p, n, 1.f);
  return p;
}

// The sampler's own table, made with it.
NeighborSampler::NeighborSampler(const Graph& graph) {
  int* degrees;
  cudaMalloc(&degrees, graph.nodes * sizeof(int));
  degree_kernel<<<64, 256>>>(graph.rows, degrees);
  cudaFree(degrees);
}

// The caller's, and the object's own.
void retire(float* given, cudaStream_t stream) {
  mark_kernel<<<64, 256, 0, stream>>>(given);
  cudaFree(given);
}

void Layer::drop() {
  mark_kernel<<<64, 256>>>(acts_);
  cudaFree(acts_);
}

// Nothing is started here.
void swap_rows(thrust::device_vector<float>& rows) {
  thrust::device_vector<float> held(rows.size());
  EXCHANGE((std::swap), rows, held);
}
