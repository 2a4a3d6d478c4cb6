#include <cuda_runtime.h>

// Kernels behind macros are kernels.
void get_working_set(const SyncArray<float>& values, SyncArray<float>& rows, int m, int n) {
  SAFE_KERNEL_LAUNCH(kernel_get_working_set, values.device_data(), rows.device_data(), m, n);
  cudaDeviceSynchronize();  // expect: explicit-sync
}

// A search, by its name, but what each call does on the device.
void Index::searchImpl(int n, const float* x, float* distances) const {
  distance_kernel<<<n, 256>>>(x, distances);
  CUDA_VERIFY(cudaStreamSynchronize(stream_));  // expect: explicit-sync
}

void Solver::solve(const KernelMatrix& k) {
  for (int iter = 0;; ++iter) {
    smo_kernel<<<1, 1024>>>(k.data());
    cudaStreamSynchronize(stream_);  // expect: explicit-sync
    if (converged_[0]) break;
  }
}
