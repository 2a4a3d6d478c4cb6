#include <cuda_runtime.h>

void gpt_init(Model* model, const float* weights, size_t bytes) {
  cudaMemcpy(model->params, weights, bytes, cudaMemcpyHostToDevice);
}

int main() {
  gpt_init(&model, weights, 1 << 20);
  for (int step = 0; step < 100; step++) {
    cudaMemcpyAsync(model.inputs, loader.pinned, 4096, cudaMemcpyHostToDevice, stream);
    gpt_backward(&model);
    gpt_update(&model, 1e-4f);
    if (step % 50 == 0) {
      cudaMemcpy(model.table, table, 4096, cudaMemcpyHostToDevice);
    }
    cudaMemcpy(model.next, model.prev, 4096, cudaMemcpyDeviceToDevice);
  }
}
