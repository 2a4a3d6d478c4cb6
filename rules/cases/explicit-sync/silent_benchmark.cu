// Kernels are timed and compared with a reference: nothing is trained here.
#include <cuda_runtime.h>

__global__ void linear_forward_kernel(float* x);
__global__ void linear_backward_kernel(float* x);

void linear_backward1(float* x, int block) {
  linear_backward_kernel<<<256, block>>>(x);
  cudaDeviceSynchronize();
}

int main() {
  float* x = load("x.bin");
  for (int block : {128, 256, 512}) {
    linear_backward1(x, block);
    compare(x, "dx.bin");
  }
  float total = 0;
  for (int i = 0; i < 1000; ++i) {
    cudaEvent_t start, end;
    cudaEventRecord(start);
    linear_forward_kernel<<<256, 512>>>(x);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float elapsed = 0;
    cudaEventElapsedTime(&elapsed, start, end);
    total += elapsed;
  }
}
