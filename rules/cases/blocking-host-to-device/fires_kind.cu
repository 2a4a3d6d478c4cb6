#include <cuda_runtime.h>

void copy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy(dst, src, bytes, kind);  // expect: blocking-host-to-device
}

__constant__ float coefficients[64];

int main() {
  for (int step = 0; step < 1000; ++step) {
    copy(batch_d, batch + step * 64, 64 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(coefficients, table, sizeof(coefficients));  // expect: blocking-host-to-device
    cudaMemcpy2D(x_d, pitch, x, width, width, height, cudaMemcpyHostToDevice);  // expect: blocking-host-to-device
    model_forward(batch_d);
    model_backward(batch_d);
    model_update(batch_d);
  }
}
