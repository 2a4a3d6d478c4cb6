// A wait for those who do not ask to go on: one does not, one leaves it to the default.
#include <cuda_runtime.h>

__global__ void scale(float* data, int n);

struct Layer {
  float* data;
  int n;
  void update(float rate, bool async) {
    scale<<<1, 128>>>(data, n);
    if (!async) cudaDeviceSynchronize();  // expect: explicit-sync
  }
  void refresh(bool lazy = false) {
    scale<<<1, 128>>>(data, n);
    if (!lazy) cudaDeviceSynchronize();  // expect: explicit-sync
  }
};

int main() {
  Layer layer;
  for (int epoch = 0; epoch < 100; ++epoch) {
    model_backward(layer.data);
    layer.update(0.1f, epoch > 3);
    layer.refresh();
  }
}
