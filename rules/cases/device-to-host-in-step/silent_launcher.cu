#include <cuda_runtime.h>

void save_state(const float* state, float* host, size_t bytes) {
  pack_kernel<<<64, 256>>>(state);
  cudaMemcpy(host, state, bytes, cudaMemcpyDeviceToHost);
}

void predict(const float* x, float* host, size_t bytes) {
  forward_kernel<<<64, 256>>>(x);
  cudaMemcpy(host, x, bytes, cudaMemcpyDeviceToHost);
}

// Hands out what the caller asks for.
std::vector<float> to_vector(const float* x, size_t n) {
  std::vector<float> out(n);
  cudaMemcpy(out.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  return out;
}

void copy_rows(float* to, const float* from, size_t bytes) {
  pack_kernel<<<64, 256>>>(from);
  cudaMemcpy((void*)to, (const void*)from, bytes, cudaMemcpyDeviceToDevice);
}

void copy_hits(const int* flags, int* to, int n, hipStream_t stream) {
  hipLaunchKernelGGL(count_kernel, 64, 256, 0, stream, flags, to, n);
  hipMemcpyWithStream(to, flags, n * sizeof(int), hipMemcpyDeviceToDevice, stream);
}
