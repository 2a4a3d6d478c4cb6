// What types tell: a synchronize() that waits for no device is taken for one that does without
// them, and the wait behind a macro that does not look like a function is missed.
#include <cuda_runtime.h>
#include <torch/torch.h>

#define CHECK(call)                          \
  do {                                       \
    const cudaError_t error = (call);        \
    if (error != cudaSuccess) report(error); \
  } while (0)
#define SYNC() CHECK(cudaDeviceSynchronize())
#define CHECKED CHECK(cudaDeviceSynchronize())
namespace device = torch::cuda;

class Stream {
 public:
  void synchronize() { cudaStreamSynchronize(stream_); }

 private:
  cudaStream_t stream_;
};
struct Barrier {
  int passed = 0;
  void synchronize() { ++passed; }
};

__global__ void forward_kernel(float* x);

void train(float* weights, Stream& queue, Barrier& barrier, cudaStream_t stream, int steps) {
  for (int step = 0; step < steps; ++step) {
    forward_kernel<<<128, 256, 0, stream>>>(weights);
    SYNC();   // expect: explicit-sync
    CHECKED;  // expect with types: explicit-sync
    model_backward(weights);
    device::synchronize();  // expect: explicit-sync
    model_update(weights);
    queue.synchronize();                   // expect: explicit-sync
    barrier.synchronize();                 // expect without types: explicit-sync
    CHECK(cudaStreamSynchronize(stream));  // expect: explicit-sync
  }
}
