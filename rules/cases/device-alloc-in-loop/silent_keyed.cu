// Memory that is made for each new key and kept: members, and what C++ asks them for.
#include <cuda_runtime.h>

#include <map>
#include <unordered_map>

class Layer {
 public:
  float* scratch(int rows) {
    auto found = scratch_.find(rows);
    if (found == scratch_.end()) {
      float* made = nullptr;
      cudaMalloc(&made, rows * sizeof(float));
      found = scratch_.emplace(rows, made).first;
    }
    return found->second;
  }

  void forward(float* x, int rows) {
    if (!weights_.count(rows)) {
      float* made = nullptr;
      cudaMalloc(&made, rows * sizeof(float));
      weights_[rows] = made;
    }
    scale<<<32, 256>>>(x, weights_[rows], scratch(rows));
  }

 private:
  std::unordered_map<int, float*> scratch_;
  std::map<int, float*> weights_;
};

float* kernel_of(int window, cudaStream_t stream) {
  // Made for each window, and kept.
  static std::unordered_map<int, float*> made;
  auto found = made.find(window);
  if (found != made.end()) {
    return found->second;
  }
  float* weights = nullptr;
  cudaMalloc(&weights, window * sizeof(float));
  fill<<<1, 32, 0, stream>>>(weights, window);
  made[window] = weights;
  return weights;
}
