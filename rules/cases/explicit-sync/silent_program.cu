#include <cuda_runtime.h>

// A program that runs once.
void transform(float* x, int n) {
  transform_kernel<<<32, 256>>>(x, n);
  cudaDeviceSynchronize();
}

int main() {
  transform(nullptr, 10);
}

void train_on_streams(float* x, float* y, float* w, cudaStream_t* streams, int steps) {
  for (int step = 0; step < steps; ++step) {
    forward<<<10, 256, 0, streams[0]>>>(x, y, 64);
    backward<<<10, 256, 0, streams[1]>>>(y, x, 64);
    sgd_update<<<10, 256, 0, streams[1]>>>(w, x, 0.1f);
  }
  for (int i = 0; i < 2; ++i) {
    cudaStreamSynchronize(streams[i]);
    cudaStreamDestroy(streams[i]);
  }
}
