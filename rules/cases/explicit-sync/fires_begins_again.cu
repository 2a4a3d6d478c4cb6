// An engine's loop begins each batch by a function that is called like a set-up.
#include <cuda_runtime.h>

struct Engine {
  void InitializeSampling() {
    clear_kernel<<<n_, 256, 0, stream_>>>(ids_, n_);
    cudaStreamSynchronize(stream_);  // expect: explicit-sync
  }
  void Decode() { decode_kernel<<<n_, 256, 0, stream_>>>(ids_, n_); }
  void InternalThread() {
    while (true) {
      take(&n_);
      InitializeSampling();
      for (int i = 0; i < n_; ++i) Decode();
    }
  }
  int* ids_;
  int n_;
  cudaStream_t stream_;
};
