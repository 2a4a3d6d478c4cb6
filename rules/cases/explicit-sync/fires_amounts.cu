// Which kernel runs depends on how much there is to work on: that counts no steps.
#include <cuda_runtime.h>

struct Reduce {
  void forward(float* x, float* y, cudaStream_t stream) {
    if (input_->element_count <= 2048) {
      reduce_small<<<1, 256, 0, stream>>>(x, y);
      cudaDeviceSynchronize();  // expect: explicit-sync
    } else {
      reduce_large<<<64, 256, 0, stream>>>(x, y);
    }
    if (call_count_ < 10) {
      cudaDeviceSynchronize();
    }
  }
  Tensor* input_;
  int call_count_ = 0;
};
