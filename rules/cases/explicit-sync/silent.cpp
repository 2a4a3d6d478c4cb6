#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer, bool debug) {
  for (auto& batch : *loader) {
    auto loss = model.forward(batch.data).mean();
    loss.backward();
    optimizer.step();
    if (debug) {
      torch::cuda::synchronize();
    }
  }
  torch::cuda::synchronize();
}
int main() {
  cudaDeviceSynchronize();
  train(model, loader, optimizer, false);
}
