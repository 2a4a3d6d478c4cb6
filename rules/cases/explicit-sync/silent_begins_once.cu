// Layers are set up one by one, and nothing else is launched there; the engine begins once.
#include <cuda_runtime.h>

struct Layer {
  void InitializeWeights() {
    fill_kernel<<<n_, 256>>>(weights_, n_);
    cudaDeviceSynchronize();
  }
  float* weights_;
  int n_;
};

struct Net {
  void InitializeState() {
    clear_kernel<<<n_, 256>>>(state_, n_);
    cudaDeviceSynchronize();
  }
  void Decode() { decode_kernel<<<n_, 256>>>(state_, n_); }
  void Assemble() {
    for (Layer& layer : layers_) layer.InitializeWeights();
  }
  void InternalThread() {
    InitializeState();
    while (true) Decode();
  }
  std::vector<Layer> layers_;
  float* state_;
  int n_;
};
