// Layers are updated by the rate that they are given, behind a loop over parts of a batch.
#include <cuda_runtime.h>

struct Layer {
  bool Update(float lr) {
    update_kernel<<<10, 256>>>(weights_, gradients_, lr);
    cudaDeviceSynchronize();  // expect: explicit-sync
    return true;
  }
  float *weights_, *gradients_;
};

struct Network {
  bool Train(Loader& loader) {
    int step = 0;
    while (!IsLast(step)) {
      ++step;
      for (int part = 0; part < parts_; ++part) {
        if (!loader.Load(input_)) return false;
        if (!Forward(true)) return false;
        if (!Backward()) return false;
      }
      for (auto layer : layers_) {
        if (!layer->Update(RateAt(step), lr_)) return false;
      }
    }
    return true;
  }
  std::vector<Layer*> layers_;
  float lr_;
};
