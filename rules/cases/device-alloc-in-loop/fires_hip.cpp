#include <hip/hip_runtime.h>

// A temporary buffer of each call.
void normalize_forward(float* out, const float* in, int n, hipStream_t stream) {
  float* sums;
  hipMalloc(&sums, n * sizeof(float));  // expect: device-alloc-in-loop
  hipLaunchKernelGGL(sum_rows, dim3(n), dim3(256), 0, stream, sums, in);
  hipFree(sums);  // expect: device-alloc-in-loop
}

void train(float* out, const float* in, int n, hipStream_t stream) {
  for (int iter = 0; iter < 1000; ++iter) {
    if (!pinned) {
      // `pinned` is no member that is filled here
      hipHostMalloc(&staging, n);  // expect: device-alloc-in-loop
    }
    float* sums = nullptr;
    if (sums == nullptr) hipMalloc(&sums, n);  // expect: device-alloc-in-loop
    normalize_forward(out, in, n, stream);
  }
}
