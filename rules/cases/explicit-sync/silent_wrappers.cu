// Objects that wait when they are told to: who calls them wants to.
#include <cuda_runtime.h>

class Event {
 public:
  void synchronize() const { check(cudaEventSynchronize(event_)); }

 private:
  cudaEvent_t event_;
};

class Stream {
 public:
  void launch(float* x) const { scale_kernel<<<10, 256, 0, stream_>>>(x); }
  void synchronize() const { check(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_;
};
