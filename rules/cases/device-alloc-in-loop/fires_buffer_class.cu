// A class of the program's own holds device memory: each object of it is allocated and freed.
#include <cuda_runtime.h>

template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t n) { allocate(n); }
  ~DeviceBuffer() { cudaFree(data_); }
  T* get() { return data_; }

 private:
  void allocate(size_t n) { cudaMalloc(&data_, n * sizeof(T)); }
  T* data_ = nullptr;
};

struct Layer {
  void process(const float* x, float* y, int n);
  void backward(const float* dy, float* dx, int n);
};

float* grab(size_t n) {
  float* p;
  cudaMalloc(&p, n * sizeof(float));  // expect: device-alloc-in-loop
  return p;
}

void Layer::process(const float* x, float* y, int n) {
  DeviceBuffer<float> scratch(n);  // expect: device-alloc-in-loop
  float* more = grab(n);
  scale<<<n / 256, 256>>>(x, scratch.get(), n);
  scale<<<n / 256, 256>>>(scratch.get(), more, n);
  cudaFree(more);  // expect: device-alloc-in-loop
}

int main() {
  Layer layer;
  DeviceBuffer<float> x(64), y(64);
  for (int step = 0; step < 1000; ++step) {
    layer.process(x.get(), y.get(), 64);
    layer.backward(y.get(), x.get(), 64);
    sgd_update<<<10, 256>>>(w, dw, 0.1f);
  }
}

// Of a smart pointer's name it is the program's own class all the same.
template <typename T>
class dev_shared_ptr {
 public:
  explicit dev_shared_ptr(size_t n) { cudaMalloc(&data_, n * sizeof(T)); }
  ~dev_shared_ptr() { release(); }
  T* get() { return data_; }

 private:
  void release() { cudaFree(data_); }
  T* data_ = nullptr;
};

void Layer::backward(const float* dy, float* dx, int n) {
  dev_shared_ptr<float> sum(1);  // expect: device-alloc-in-loop
  total<<<n / 256, 256>>>(dy, sum.get(), n);
  scale<<<n / 256, 256>>>(sum.get(), dx, n);
}
