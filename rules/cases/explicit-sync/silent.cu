#include <cuda_runtime.h>

void train(float* weights, cudaStream_t stream, int steps) {
  for (int step = 0; step < steps; ++step) {
    forward_kernel<<<32, 256, 0, stream>>>(weights);
    if (step % 100 == 0) {
      cudaStreamSynchronize(stream);
    }
  }
  cudaDeviceSynchronize();
}
int main() { train(nullptr, 0, 10); }

// Only in a build that looks for errors.
void train_checked(Net& net, Optimizer& optimizer, int steps) {
  for (int step = 0; step < steps; ++step) {
    net.backward();
    optimizer.step();
#ifndef NDEBUG
    cudaDeviceSynchronize();
#endif
#if defined(DEBUG_SYNC)
    cudaDeviceSynchronize();
#else
    update_kernel<<<32, 256>>>(net.weights());
#endif
  }
}

constexpr bool kWaitForEach = false;

void layer_forward(float* x, cudaStream_t stream) {
  forward_kernel<<<32, 256, 0, stream>>>(x);
  if constexpr (kWaitForEach) {
    cudaStreamSynchronize(stream);
  }
}

void destroy_streams(std::vector<cudaStream_t>& streams) {
  for (size_t i = 0; i < streams.size(); ++i) {
    cudaStreamSynchronize(streams[i]);
    cudaStreamDestroy(streams[i]);
  }
}

// What waits only where it is asked to, which nobody does.
void zero(float* values, int n, bool wait = false) {
  fill<<<n, 256>>>(values);
  if (wait) cudaDeviceSynchronize();
}

void train_zeroed(float* values, int steps) {
  for (int step = 0; step < steps; ++step) {
    zero(values, 8);
    zero(values, 4, false);
    update<<<8, 256>>>(values);
  }
}
