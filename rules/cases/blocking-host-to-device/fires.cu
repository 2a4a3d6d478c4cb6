#include <cuda_runtime.h>

#define CHECK(x) check(x, __FILE__, __LINE__)

void gpt_forward(Model* model, const int* inputs, int B, int T) {
  CHECK(cudaMemcpy(model->inputs, inputs, B * T * sizeof(int), cudaMemcpyHostToDevice));  // expect: blocking-host-to-device
  encoder<<<B, T>>>(model->acts, model->inputs);
}

int main() {
  for (int step = 0; step < 100; step++) {
    dataloader_next_batch(&loader);
    gpt_forward(&model, loader.inputs, 4, 64);
    gpt_backward(&model);
    cudaMemcpy(model.lr, &lr, sizeof(float), cudaMemcpyHostToDevice);  // expect: blocking-host-to-device
    gpt_update(&model, 1e-4f);
    CHECK(cudaMemcpy(scratch, host_scratch, 4096, cudaMemcpyHostToDevice));  // expect: blocking-host-to-device
  }
}
