#include <hip/hip_runtime.h>

// ROCm's names alone: nothing here says CUDA.
void train(float* weights, int steps) {
  for (int step = 0; step < steps; ++step) {
    hipLaunchKernelGGL(update, dim3(64), dim3(256), 0, 0, weights);
    hipDeviceSynchronize();  // expect: explicit-sync
  }
}
