#include <cuda_runtime.h>

int count_edges(const int* degrees, int* offsets, int n) {
  scan_kernel<<<64, 256>>>(degrees, offsets, n);
  int total = 0;
  CHECK(cudaMemcpy(&total, offsets + n, sizeof(int), cudaMemcpyDeviceToHost));  // expect: device-to-host-in-step
  return total;
}

float Criterion::value() {
  sum_kernel<<<1, 256>>>(losses_, result_);
  float out;
  cudaMemcpy(&out, result_, sizeof(float), cudaMemcpyDeviceToHost);  // expect: device-to-host-in-step
  return out;
}

void solve(System& system, int max_iterations) {
  for (int i = 0; i < max_iterations; ++i) {
    float residual;
    residual_kernel<<<64, 256>>>(system.r);
    cudaMemcpy(&residual, system.r, sizeof(float), cudaMemcpyDeviceToHost);  // expect: device-to-host-in-step
    if (residual < 1e-6f) break;
  }
}

// What is cast is the argument, its type none.
int last_count(const int* counts, int n) {
  scan_kernel<<<64, 256>>>((int*)counts, n);
  int last = 0;
  cudaMemcpy((void*)&last, (const void*)(counts + n), sizeof(int), cudaMemcpyDeviceToHost);  // expect: device-to-host-in-step
  return last;
}

int count_hits(const int* flags, int* total, int n, hipStream_t stream) {
  hipLaunchKernelGGL(count_kernel, 64, 256, 0, stream, flags, total, n);
  int host = 0;
  hipMemcpyWithStream(&host, total, sizeof(int), hipMemcpyDeviceToHost, stream);  // expect: device-to-host-in-step
  return host;
}
