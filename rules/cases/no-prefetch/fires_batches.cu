#include <cuda_runtime.h>

__global__ void forward_kernel(const int* tokens, float* loss, int n) {}

void forward(const int* tokens, float* loss, int n) { forward_kernel<<<64, 256>>>(tokens, loss, n); }

int main() {
  DataLoader loader;
  Reader reader;
  float* loss = allocate();
  for (int step = 0; step < 1000; ++step) {
    dataloader_next_batch(&loader);  // expect: no-prefetch
    forward(loader.inputs, loss, 4096);
    gpt2_backward(loss);
    gpt2_update(loss, step);
  }
  for (int step = 0; step < 1000; ++step) {
    auto batch = reader.next_batch();  // expect: no-prefetch
    forward(batch.tokens, loss, batch.size);
    model.backward(loss);
    optimizer.step();
  }
  return 0;
}
