// Macros that wait in builds for trials, in some case only, or never.
#include <cuda_runtime.h>

#define REPORT(call)                         \
  do {                                       \
    const cudaError_t error = (call);        \
    if (error != cudaSuccess) report(error); \
  } while (0)
#ifdef KERNEL_DEBUG
#define CHECK_KERNEL() REPORT(cudaDeviceSynchronize())
#else
#define CHECK_KERNEL() REPORT(cudaGetLastError())
#endif
#define CHECK_IF_ASKED()                           \
  do {                                             \
    if (g_checks) REPORT(cudaDeviceSynchronize()); \
  } while (0)
#define CHECK_LAUNCH() REPORT(cudaPeekAtLastError())
#ifdef NET_PROFILE
#define WAIT_HERE() cudaDeviceSynchronize()
#endif

void add_bias(const float* x, const float* bias, float* y, int n) {
  add_bias_kernel<<<n / 256, 256>>>(x, bias, y, n);
  CHECK_KERNEL();
}

void scale(const float* x, float* y, int n) {
  scale_kernel<<<n / 256, 256>>>(x, y, n);
  CHECK_IF_ASKED();
}

void train(float* x, float* y, float* w, int steps) {
  for (int step = 0; step < steps; ++step) {
    forward(x, y, 64);
    backward(y, x, 64);
    sgd_update<<<10, 256>>>(w, x, 0.1f);
    CHECK_LAUNCH();
    WAIT_HERE();
  }
}

// Once.
void init_weights(float* w, int n) {
  fill<<<n / 256, 256>>>(w, n);
  CHECK_KERNEL();
}
