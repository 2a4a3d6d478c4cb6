#include <cuda_runtime.h>

// A program that runs once.
void transform(float* x, int n) {
  transform_kernel<<<32, 256>>>(x, n);
  cudaDeviceSynchronize();
}

int main() {
  transform(nullptr, 10);
}
