#include <cuda_runtime.h>

// A wrapper's name may be written in any case: its callers wait.
void SynchronizeCUDADevice(const char* file, int line) {
  gpuAssert(cudaDeviceSynchronize(), file, line);
}

void Booster::train(int num_iterations) {
  for (int iter = 0; iter < num_iterations; ++iter) {
    histogram_kernel<<<64, 256>>>(data_, histogram_);
    SynchronizeCUDADevice(__FILE__, __LINE__);  // expect: explicit-sync
    split_kernel<<<64, 256>>>(histogram_, splits_);
  }
}
