// What searches for the way to take a step comes once, whatever step its name says.
#include <cuda_runtime.h>

class Convolution {
 public:
  void forward(float* x) {
    if (first_) search_fwd_algo(x);
    convolve<<<32, 256>>>(x, algorithm_);
  }

 private:
  void search_fwd_algo(float* x) {
    for (int a = 0; a < kAlgorithms; ++a) {
      cudaStreamSynchronize(stream_);
      const double start = now();
      convolve<<<32, 256>>>(x, a);
      cudaStreamSynchronize(stream_);
      if (now() - start < best_) algorithm_ = a;
    }
  }
};
