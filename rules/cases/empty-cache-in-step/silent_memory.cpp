#include <torch/torch.h>

#include <c10/cuda/CUDACachingAllocator.h>

// Only when there is no memory left.
void fit(Net& model, Loader& loader, torch::optim::SGD& optimizer) {
  for (auto& batch : *loader) {
    try {
      auto loss = model->forward(batch.data).mean();
      loss.backward();
    } catch (const c10::Error& error) {
      c10::cuda::CUDACachingAllocator::emptyCache();
      continue;
    }
    optimizer.step();
  }
}

// Once, between two models.
Net replace(Net old, const std::string& path) {
  old.reset();
  c10::cuda::CUDACachingAllocator::emptyCache();
  Net fresh;
  torch::load(fresh, path);
  return fresh;
}
