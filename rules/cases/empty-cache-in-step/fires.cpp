#include <torch/torch.h>

#include <c10/cuda/CUDACachingAllocator.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer) {
  for (auto& batch : *loader) {
    auto loss = model.forward(batch.data).mean();
    loss.backward();
    optimizer.step();
    c10::cuda::CUDACachingAllocator::emptyCache();  // expect: empty-cache-in-step
  }
}
