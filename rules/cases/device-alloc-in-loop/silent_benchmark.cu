#include <cuda_runtime.h>

#include "common.h"

__global__ void scale_kernel(float* out, const float* x, float* sums, int n);

// Tried by hand, to see which is fastest: the trainer has a copy that is given its memory.
void scale_forward(float* out, const float* x, int n, int block) {
  float* sums;
  cudaMalloc(&sums, n * sizeof(float));
  scale_kernel<<<n / block, block>>>(out, x, sums, n);
  cudaFree(sums);
}

int main(int argc, char** argv) {
  int blocks[] = {32, 64, 128, 256};
  float *out, *x;
  cudaMalloc(&out, 1 << 20);
  cudaMalloc(&x, 1 << 20);
  for (int block : blocks) {
    float elapsed = benchmark_kernel(1000, scale_forward, out, x, 1 << 18, block);
    printf("%d: %f ms\n", block, elapsed);
  }
}
