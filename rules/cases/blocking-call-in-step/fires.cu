// What the device can do is asked for in each call.
#include <cuda_runtime.h>

// An operator of a library.
void reduce(const float* x, float* y, int n, cudaStream_t stream) {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);  // expect: blocking-call-in-step
  reduce_kernel<<<properties.multiProcessorCount, 256, 0, stream>>>(x, y, n);
}

struct Layer {
  void forward(const float* x, float* y, int n);
  void backward(const float* dy, float* dx, int n);
};

void Layer::forward(const float* x, float* y, int n) {
  int device = 0;
  cudaDeviceProp properties;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaGetDeviceProperties(&properties, device));  // expect: blocking-call-in-step
  scale<<<properties.multiProcessorCount, 256>>>(x, y, n);
}

void Layer::backward(const float* dy, float* dx, int n) {
  scale<<<n / 256, 256>>>(dy, dx, n);
}

void train(Layer& layer, float* x, float* y, float* w, int steps) {
  for (int step = 0; step < steps; ++step) {
    layer.forward(x, y, 64);
    layer.backward(y, x, 64);
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);  // expect: blocking-call-in-step
    sgd_update<<<properties.multiProcessorCount, 256>>>(w, x, 0.1f);
  }
}
