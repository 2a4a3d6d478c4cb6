#include <torch/torch.h>

#include <c10/cuda/CUDACachingAllocator.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer) {
  int step = 0;
  for (auto& batch : *loader) {
    auto loss = model.forward(batch.data).mean();
    loss.backward();
    optimizer.step();
    if (++step % 1000 == 0) {
      c10::cuda::CUDACachingAllocator::emptyCache();
    }
  }
}

int main() {
  c10::cuda::CUDACachingAllocator::emptyCache();
  return 0;
}
