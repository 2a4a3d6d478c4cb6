#include <cuda_runtime.h>

void Concat::forward_task(const Task* task, float* output, const float* input, int n) {
  copy_kernel<<<64, 256>>>(output, input, n);
  if (cc->profiling) {
    checkCUDA(cudaDeviceSynchronize());
    printf("concat: %d\n", n);
  }
}
