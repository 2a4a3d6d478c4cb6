#include <cuda_runtime.h>

// A trial of a kernel: it times one launch.
void swizzled_gemm(const float* a, const float* b, float* c, int n) {
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaDeviceSynchronize();
  cudaEventRecord(start);
  gemm_kernel<<<n, 128>>>(a, b, c, n);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float ms = 0;
  cudaEventElapsedTime(&ms, start, stop);
  printf("%f ms\n", ms);
}
