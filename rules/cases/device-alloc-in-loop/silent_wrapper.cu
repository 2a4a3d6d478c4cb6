// Helpers that take memory, which serve many calls from what they have or are called once.
#include <cuda_runtime.h>

class Pool {
 public:
  void gpuMalloc(void** pointer, size_t size) {
    auto& chunk = chunks_[size];
    if (chunk.empty()) cudaMalloc(pointer, size);
    else *pointer = chunk.back();
  }
  void ensureAllocated(size_t size) {
    if (size <= capacity_) return;
    cudaFree(data_);
    cudaMalloc(&data_, size);
    capacity_ = size;
  }
  std::map<size_t, std::vector<void*>> chunks_;
  size_t capacity_ = 0;
  float* data_ = nullptr;
};

void gpu_alloc(void** pointer, size_t size) { cudaMalloc(pointer, size); }
void free_weights(Weights& weights) { cudaFree(weights.data); }

class Layer {
 public:
  float* forward(float* input) {
    if (output_ == nullptr) cudaMalloc(&output_, size_);
    pool_.ensureAllocated(size_);
    pool_.gpuMalloc((void**)&scratch_, size_);
    layer_kernel<<<blocks_, 256>>>(input, output_, scratch_);
    return output_;
  }
  Pool pool_;
  float *output_ = nullptr, *scratch_ = nullptr;
};

int main() {
  Net net;
  Weights weights;
  gpu_alloc((void**)&weights.data, 1024);
  for (int b = 0; b < 1000; ++b) {
    net.forward(weights.data);
    net.backward();
    update_weights(net, 0.01f);
  }
  free_weights(weights);
}
