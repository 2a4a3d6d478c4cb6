#include <cuda_runtime.h>

void train(float* weights, cudaStream_t stream, int steps) {
  for (int step = 0; step < steps; ++step) {
    forward_kernel<<<32, 256, 0, stream>>>(weights);
    CHECK(cudaDeviceSynchronize());  // expect: explicit-sync
    update_kernel<<<32, 256, 0, stream>>>(weights);
    cudaStreamSynchronize(stream);  // expect: explicit-sync
  }
}
int main() { train(nullptr, 0, 10); }
