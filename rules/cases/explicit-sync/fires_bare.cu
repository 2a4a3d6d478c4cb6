// A program of C++ calls its own steps by bare names, as methods or functions.
#include <cuda_runtime.h>

class Network {
 public:
  void pretrain(Data* data, int epochs) {
    while (epoch_ < epochs) {
      data->next(x_, y_);
      fprop(x_);
      error_ += bprop(x_, y_);
      cudaDeviceSynchronize();  // expect: explicit-sync
      seen_ += batch_;
    }
  }

 private:
  void fprop(float* x) { layer<<<32, 256>>>(x); }
  float bprop(float* x, float* y) { return delta(x, y); }
};

void fit(Net* net, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    backpropagate(net);
    cudaDeviceSynchronize();  // expect: explicit-sync
  }
}

void epoch(Net* net, int batches) {
  for (int b = 0; b < batches; ++b) {
    netBackward(net, b);
    cudaStreamSynchronize(net->stream);  // expect: explicit-sync
  }
}
