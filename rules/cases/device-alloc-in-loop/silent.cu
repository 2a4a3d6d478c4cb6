#include <cuda_runtime.h>

void forward(Model* model, size_t n) {
  if (model->acts == NULL) {
    cudaMalloc((void**)&model->acts, n * sizeof(float));
  }
  encoder<<<32, 256>>>(model->acts, n);
}

int main() {
  float* scratch;
  cudaMalloc(&scratch, 1 << 20);
  for (int i = 0; i < 100; ++i) {
    forward(&model, 1 << 20);
    model_backward(scratch);
    model_update(scratch);
    cudaMallocAsync(&tmp, 4096, stream);
    cudaFreeAsync(tmp, stream);
  }
  cudaFree(scratch);
}
