// A wait for those who do not ask to go on: everybody asks.
#include <cuda_runtime.h>

__global__ void scale(float* data, int n);

struct Layer {
  float* data;
  int n;
  void update(float rate, bool async) {
    scale<<<1, 128>>>(data, n);
    if (!async) cudaDeviceSynchronize();
  }
};

int main() {
  Layer layer;
  for (int epoch = 0; epoch < 100; ++epoch) {
    model_backward(layer.data);
    layer.update(0.1f, true);
  }
}
