#include <cuda_runtime.h>

__global__ void score_kernel(const int* tokens, float* score, int n) {}

// Once, to warm up.
void prepare(DataLoader& loader, float* score) {
  dataloader_next_batch(&loader);
  score_kernel<<<64, 256>>>(loader.inputs, score, 4096);
}

void validate(DataLoader& loader, float* score) {
  for (int i = 0; i < 20; ++i) {
    dataloader_next_batch(&loader);
    score_kernel<<<64, 256>>>(loader.inputs, score, 4096);
  }
}

int main() {
  DataLoader loader, validation;
  float* score = allocate();
  prepare(loader, score);
  for (int step = 0; step < 1000; ++step) {
    if (step % 100 == 0) {
      dataloader_next_batch(&validation);
      score_kernel<<<64, 256>>>(validation.inputs, score, 4096);
    }
    gpt2_forward(step);
    gpt2_backward(score);
    gpt2_update(score, step);
  }
  validate(validation, score);
  return 0;
}
