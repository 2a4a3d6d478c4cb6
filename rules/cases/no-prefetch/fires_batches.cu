#include <cuda_runtime.h>

__global__ void forward_kernel(const int* tokens, float* loss, int n) {}

void forward(const int* tokens, float* loss, int n) { forward_kernel<<<64, 256>>>(tokens, loss, n); }

void train_gpt(DataLoader& loader, float* loss) {
  for (int step = 0; step < 1000; ++step) {
    dataloader_next_batch(&loader);  // expect: no-prefetch
    forward(loader.inputs, loss, 4096);
    gpt2_backward(loss);
    gpt2_update(loss, step);
  }
}

void train_read(Reader& reader, Model& model, Optimizer& optimizer, float* loss) {
  for (int step = 0; step < 1000; ++step) {
    auto batch = reader.next_batch();  // expect: no-prefetch
    forward(batch.tokens, loss, batch.size);
    model.backward(loss);
    optimizer.step();
  }
}

void train_rows(const float* x, const float* y, Model& model, Optimizer& optimizer, float* loss) {
  for (int start = 0; start < 60000; start += 64) {
    get_batch(x, y, model.inputs, model.targets, start, 64);  // expect: no-prefetch
    forward(model.inputs, loss, 64);
    model.backward(loss);
    optimizer.step();
  }
}

int main() {
  DataLoader loader;
  Reader reader;
  Model model;
  Optimizer optimizer;
  float* loss = allocate();
  train_gpt(loader, loss);
  train_read(reader, model, optimizer, loss);
  train_rows(loader.x, loader.y, model, optimizer, loss);
}
