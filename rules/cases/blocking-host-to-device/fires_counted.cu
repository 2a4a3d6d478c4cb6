// Programs that name no step count their batches: in train(), or in a loop over epochs.
#include <cuda_runtime.h>

int stage_part(float* to, const float* from, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess ? 0 : -1;  // expect: blocking-host-to-device
}

int NN::train(const float* samples) {
  for (int b = 0; b < batchCnt; b++) {
    if (stage_part(inputs_, samples + b * width_, bytes_) != 0) return -1;
    if (multiply(weights_, inputs_, outputs_) != 0) return -1;
  }
  return 0;
}

void refill(float* to, const float* from, size_t bytes) {
  cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);  // expect: blocking-host-to-device
}

int main() {
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (int i = 0; i < samples; i += batch_size) {
      refill(inputs, images + i * width, bytes);
      layer<<<32, 256>>>(inputs, weights);
    }
  }
}
