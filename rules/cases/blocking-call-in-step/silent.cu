// Asked once, for one value, or beside the steps.
#include <cuda_runtime.h>

int units() {
  int count = 0;
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
  return count;
}

int most_threads() {
  static const int threads = [] {
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    return properties.maxThreadsPerBlock;
  }();
  return threads;
}

struct Layer {
  Layer();
  void forward(const float* x, float* y, int n);
  void backward(const float* dy, float* dx, int n);
  cudaDeviceProp properties_;
};

Layer::Layer() {
  cudaGetDeviceProperties(&properties_, 0);
  prepare<<<32, 256>>>(properties_.multiProcessorCount);
}

void Layer::forward(const float* x, float* y, int n) {
  scale<<<units(), most_threads()>>>(x, y, n);
}

void Layer::backward(const float* dy, float* dx, int n) {
  scale<<<n / 256, 256>>>(dy, dx, n);
}

// What a wrapper is asked for may be kept by those who ask.
bool has_tensor_cores(int device) {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, device);
  return properties.major >= 7;
}

void print_device(int device) {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, device);
  printf("%s", properties.name);
}

int main() {
  print_device(0);
  Layer layer;
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  for (int step = 0; step < 1000; ++step) {
    layer.forward(x, y, 64);
    layer.backward(y, x, 64);
    sgd_update<<<properties.multiProcessorCount, 256>>>(w, x, 0.1f);
    if (step % 100 == 0) print_device(0);
  }
}
