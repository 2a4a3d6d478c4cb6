// A class whose destructor frees nothing that is seen allocates for each object all the same.
#include <cuda_runtime.h>

class DeviceMatrix {
 public:
  DeviceMatrix(int rows, int columns) : rows_(rows), columns_(columns) {
    cudaMalloc(&data_, rows * columns * sizeof(float));
  }
  float* data() const { return data_; }

 private:
  float* data_ = nullptr;
  int rows_, columns_;
};

void train(float* x, float* w, int steps) {
  for (int step = 0; step < steps; ++step) {
    DeviceMatrix hidden(64, 128);  // expect: device-alloc-in-loop
    DeviceMatrix error(64, 10);  // expect: device-alloc-in-loop
    forward<<<64, 128>>>(x, w, hidden.data());
    backward<<<64, 128>>>(hidden.data(), error.data());
    sgd_update<<<64, 128>>>(w, error.data(), 0.1f);
  }
}
