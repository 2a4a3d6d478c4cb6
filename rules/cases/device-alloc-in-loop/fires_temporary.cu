// Buffers that live no longer than the call.
#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/gather.h>

// Nobody frees it: lost in every call.
double trace_product(const CuMatrix& a, const CuMatrix& b) {
  double* diagonal;
  CU_SAFE_CALL(cudaMalloc(reinterpret_cast<void**>(&diagonal), a.rows() * sizeof(double)));  // expect: device-alloc-in-loop
  copy_diagonal<<<1, 256>>>(diagonal, a.data(), a.rows());
  return dot(diagonal, b.data());
}

void backward_kernel(const Meta* m, const float* grad, float* in_grad, size_t n) {
  if (m->broadcasts) {
    float* temp_ptr = nullptr;
    checkCUDA(cudaMalloc(&temp_ptr, n * sizeof(float)));  // expect: device-alloc-in-loop
    checkCUDNN(cudnnOpTensor(m->handle, m->op, grad, temp_ptr));
    checkCUDNN(cudnnReduceTensor(m->handle, m->reduce, temp_ptr, in_grad));
  }
}

template <typename T>
void apply_permutation(thrust::device_ptr<T> keys, thrust::device_vector<int>& order) {
  thrust::device_vector<T> temp(keys, keys + order.size());  // expect: device-alloc-in-loop
  thrust::gather(order.begin(), order.end(), temp.begin(), keys);
}

void regions(float* out, const int* in, int bins) {
  label_kernel<<<64, 256>>>(out, in);
  thrust::device_vector<float> labels(bins);  // expect: device-alloc-in-loop
  CUDA_LAUNCH(final_kernel, 64, 256, out, labels.data().get());
}

// A static function's own variables are made by every call.
static float total(const float* x, int n) {
  float* const sum = [] {
    float* made;
    cudaMalloc(&made, sizeof(float));  // expect: device-alloc-in-loop
    return made;
  }();
  sum_kernel<<<n / 256, 256>>>(x, sum, n);
  return read_and_free(sum);
}

void train_totals(float* x, float* y, float* w, int n, int max_iter) {
  for (int iter = 0; iter < max_iter; ++iter) {
    forward(x, y, n);
    backward(y, x, n);
    sgd_update<<<10, 256>>>(w, x, total(x, n));
  }
}

void insert_keys(const long* keys, int n, cudaStream_t stream) {
  int* prefix;
  cudaMalloc((void**)&prefix, n * sizeof(int));  // expect: device-alloc-in-loop
  count_kernel<<<64, 256, 0, stream>>>(keys, prefix, n);
  release_later((void*)prefix, stream);
}

// What launches kernels samples for each batch.
int NeighborSampler::sample(const long* seeds, int n, cudaStream_t stream) {
  int* counts;
  cudaMalloc(&counts, n * sizeof(int));  // expect: device-alloc-in-loop
  sample_kernel<<<64, 256, 0, stream>>>(seeds, counts, n);
  const int found = total(counts, n);
  cudaFree(counts);  // expect: device-alloc-in-loop
  return found;
}

// Allocated by a helper, freed here.
void ridge(const float* x, float* out, int n, cudaStream_t stream) {
  float* scratch;
  allocate(scratch, n);
  scale_kernel<<<64, 256, 0, stream>>>(x, scratch, n);
  sum_kernel<<<64, 256, 0, stream>>>(scratch, out, n);
  CUDA_CHECK(cudaFree(scratch));  // expect: device-alloc-in-loop
}

// The project's own macro starts what it is given.
template <typename T>
void permute(thrust::device_ptr<T>& keys, thrust::device_vector<int>& order) {
  thrust::device_vector<T> temp(order.size());  // expect: device-alloc-in-loop
  SELECT_STREAM((thrust::gather), order.begin(), order.end(), keys, temp.begin());
}

// A texture of each call.
void project(const float* image, float* out, int n) {
  cudaArray* pixels;
  auto texture = make_texture(image, pixels, n);
  project_kernel<<<64, 256>>>(out, texture, n);
  cudaFreeArray(pixels);  // expect: device-alloc-in-loop
}
