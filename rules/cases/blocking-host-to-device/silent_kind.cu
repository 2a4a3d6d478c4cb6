#include <cuda_runtime.h>

__constant__ float coefficients[64];

int main() {
  cudaMemcpyToSymbol(coefficients, table, sizeof(coefficients));
  for (int step = 0; step < 1000; ++step) {
    cudaMemcpy(x_d, y_d, bytes, cudaMemcpyDeviceToDevice);
    cudaMemcpyAsync(batch_d, batch, bytes, kind, stream);
    cudaMemcpy2D(x_d, pitch, y_d, pitch, width, height, cudaMemcpyDeviceToDevice);
    cudaMemcpyToSymbol(coefficients, learnt_d, sizeof(coefficients), 0, cudaMemcpyDeviceToDevice);
    model_forward(batch_d);
    model_backward(batch_d);
    model_update(batch_d);
  }
}
