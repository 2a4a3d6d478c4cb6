#include <cuda_runtime.h>

void setup_limits(float* limits, const float* host) {
  cudaMemcpy(limits, host, 64, cudaMemcpyHostToDevice);
  pack_kernel<<<64, 256>>>(limits);
}

void load_weights(float* weights, const float* host, size_t bytes) {
  cudaMemcpy(weights, host, bytes, cudaMemcpyHostToDevice);
  transpose_kernel<<<64, 256>>>(weights);
}

void run(float* out, float* table, const float* host) {
  if (table == nullptr) {
    table = allocate(64);
    cudaMemcpy(table, host, 64, cudaMemcpyHostToDevice);
  }
  apply_kernel<<<64, 256>>>(out, table);
}
