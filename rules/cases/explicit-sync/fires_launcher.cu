// Nobody in the project is seen to call these: what launches kernels and waits for them stops
// whoever does.
#include <cub/cub.cuh>
#include <cuda_runtime.h>

void axpy_half(int n, float alpha, const half2* x, half2* y, cudaStream_t stream) {
  axpy_kernel<<<blocks(n), 256, 0, stream>>>(n, alpha, x, y);
  CUDA_CHECK(cudaStreamSynchronize(stream));  // expect: explicit-sync
}

template <typename T>
class SketchContainer {
 public:
  void AllReduce(Context const* context) {
    auto pack = [&](T* out) {
      auto stream = context->Stream();
      check(cudaMemcpyAsync(out, entries_, bytes_, cudaMemcpyDeviceToDevice, stream));
      check(cudaStreamSynchronize(stream));  // expect: explicit-sync
    };
    pack(entries_);
  }
};

void exclusive_scan(void* scratch, size_t bytes, const int* in, int* out, int n) {
  cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out, n);
  cudaDeviceSynchronize();  // expect: explicit-sync
}

cudaError_t build_histogram(const int* rows, int* bins, int n) {
  histogram_kernel<<<blocks(n), 256>>>(rows, bins, n);
  return cudaDeviceSynchronize();  // expect: explicit-sync
}

void neighbors(raft::handle_t const& handle, float* x, int n) {
  distances<<<blocks(n), 256, 0, handle.get_stream()>>>(x, n);
  handle.sync_stream();  // expect: explicit-sync
}

// A layer and an operator, although their names say sampling, generating and search.
int updateOutput_SpatialSubSampling(const float* input, float* output, int n) {
  subsample<<<n, 256>>>(input, output);
  cudaDeviceSynchronize();  // expect: explicit-sync
  return 1;
}

void generate_primary_rays(const float* camera, float* rays, int pixels) {
  primary_rays<<<pixels / 256, 256>>>(camera, rays);
  cudaDeviceSynchronize();  // expect: explicit-sync
}

// A layer's evaluate(), which the network's evaluate() calls, is its forward pass.
void evaluate(const Layer& layer, const float* input, float* output, int n) {
  dense_kernel<<<blocks(n), 256>>>(layer.weights, input, output);
  cudaDeviceSynchronize();  // expect: explicit-sync
}

void evaluate(const Network& network, const float* input, float* output, int n) {
  for (const Layer& layer : network.layers) evaluate(layer, input, output, n);
}
