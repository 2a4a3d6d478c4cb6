// Macros of the program's own that wait: each line that uses one stops the host.
#include <cuda_runtime.h>

#define REPORT(call)                         \
  do {                                       \
    const cudaError_t error = (call);        \
    if (error != cudaSuccess) report(error); \
  } while (0)
#define CHECK_KERNEL()             \
  do {                             \
    /* for errors of the kernel */ \
    cudaDeviceSynchronize();       \
    REPORT(cudaGetLastError());    \
  } while (0)
#define SYNC_CHECK(message) \
  if (cudaDeviceSynchronize() != cudaSuccess) fail(message)
#define WAIT_FOR(stream) REPORT(cudaStreamSynchronize(stream))

// Nobody in the project is seen to call it.
void add_bias(const float* x, const float* bias, float* y, int n) {
  add_bias_kernel<<<n / 256, 256>>>(x, bias, y, n);
  CHECK_KERNEL();  // expect: explicit-sync
}

struct Layer {
  void forward(const float* x, float* y, int n);
  void backward(const float* dy, float* dx, int n);
};

void Layer::forward(const float* x, float* y, int n) {
  scale<<<n / 256, 256>>>(x, y, n);
  SYNC_CHECK("scale");  // expect: explicit-sync
}

void Layer::backward(const float* dy, float* dx, int n) {
  scale<<<n / 256, 256>>>(dy, dx, n);
}

void train(Layer& layer, float* x, float* y, float* w, cudaStream_t stream, int steps) {
  for (int step = 0; step < steps; ++step) {
    layer.forward(x, y, 64);
    layer.backward(y, x, 64);
    sgd_update<<<10, 256, 0, stream>>>(w, x, 0.1f);
    WAIT_FOR(stream);  // expect: explicit-sync
  }
}

#define CHECK_KERNEL(name)                      \
  do {                                          \
    cudaError_t error = cudaGetLastError();     \
    if (error != cudaSuccess) {                 \
      std::cerr << name;                        \
      exit(1);                                  \
    }                                           \
    error = cudaDeviceSynchronize();            \
    if (error != cudaSuccess) exit(1);          \
  } while (0)

void launch_add(float* x) {
  add<<<1, 256>>>(x);
  CHECK_KERNEL("add");  // expect: explicit-sync
}

void train_checked(float* x, Network& network, Optimizer& optimizer) {
  for (int i = 0; i < 1000; ++i) {
    launch_add(x);
    network.backward();
    optimizer.step();
  }
}
