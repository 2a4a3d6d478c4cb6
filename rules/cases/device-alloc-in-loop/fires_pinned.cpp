// Staging memory that is pinned and let go for each batch.
#include <cuda_runtime.h>

#include <vector>

class Trainer {
 public:
  void train_step(const std::vector<float>& batch) {
    float* staged = nullptr;
    cudaMallocHost(&staged, batch.size() * sizeof(float));  // expect: device-alloc-in-loop
    std::copy(batch.begin(), batch.end(), staged);
    cudaMemcpyAsync(inputs_, staged, batch.size() * sizeof(float), cudaMemcpyHostToDevice, stream_);
    model_.forward(inputs_);
    model_.backward();
    model_.update(rate_);
    cudaStreamSynchronize(stream_);
    cudaFreeHost(staged);  // expect: device-alloc-in-loop
  }

 private:
  Model model_;
  float* inputs_ = nullptr;
  float rate_ = 0.1f;
  cudaStream_t stream_;
};
