// A trainer of boosted trees: what its loop calls is named as C++ likes.
#include <cuda_runtime.h>

__global__ void histogram(const float* gradients, float* bins, int n);

class Booster {
 public:
  void TrainOneIteration(float* gradients, int n) {
    histogram<<<n / 256, 256>>>(gradients, bins_, n);
    cudaDeviceSynchronize();  // expect: explicit-sync
  }

 private:
  float* bins_;
};

void fit_rounds(Booster& booster, float* gradients, int n) {
  for (int i = 0; i < 100; ++i) booster.TrainOneIteration(gradients, n);
}

class Net {
 public:
  void computeGradients(float* x, int n) {
    histogram<<<n / 256, 256>>>(x, gradients_, n);
    cudaStreamSynchronize(0);  // expect: explicit-sync
  }

 private:
  float* gradients_;
};

int main() {
  Net net;
  float* x = nullptr;
  for (int batch = 0; batch < 100; ++batch) net.computeGradients(x, 1024);
}
