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

// A method of a block of threads, not of the one class here that has a sync() of its own.
class Results {
 public:
  void sync() { cudaStreamSynchronize(stream_); }
  cudaStream_t stream_;
};

template <typename T>
__global__ void blur(T* values, int n) {
  auto block = cooperative_groups::this_thread_block();
  values[threadIdx.x] *= 0.5f;
  block.sync();
  values[threadIdx.x] += values[n - threadIdx.x];
}

void train_blurred(float* values, int steps) {
  for (int step = 0; step < steps; ++step) {
    blur<float><<<8, 256>>>(values, 256);
    update<<<8, 256>>>(values);
  }
}
