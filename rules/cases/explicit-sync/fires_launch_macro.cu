// A macro of the program's own that launches and waits.
#include <cuda_runtime.h>

#define KERNEL_CALL(kernel, ...)        \
  kernel<<<g_blocks, 256>>>(__VA_ARGS__); \
  cudaDeviceSynchronize();              \
  CHECK_LAST_ERROR(cudaGetLastError())

#define LAUNCH_ASYNC(kernel, ...) kernel<<<g_blocks, 256>>>(__VA_ARGS__)

void train(float* x, float* y, float* w, int steps) {
  for (int step = 0; step < steps; ++step) {
    LAUNCH_ASYNC(forward, x, y, 64);
    LAUNCH_ASYNC(backward, y, x, 64);
    KERNEL_CALL(sgd_update, w, x, 0.1f);  // expect: explicit-sync
  }
}
