// Loops over what is in a batch, or over batches of a trial, are no steps; nor is what fills a table.
#include <cuda_runtime.h>

int stage_part(float* to, const float* from, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess ? 0 : -1;
}

int NN::build(const float* samples) {
  for (int b = 0; b < batchCnt; b++) {
    if (stage_part(tables_[b], samples + b * width_, bytes_) != 0) return -1;
  }
  return 0;
}

int main() {
  NN net;
  return net.build(samples);
}
