// LibTorch in a CUDA file is LibTorch.
#include <torch/torch.h>

void train(torch::nn::Sequential model, torch::optim::Adam& optimizer) {
  float total = 0;
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(model->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    total += loss.item<float>();  // expect: item-in-step
  }
}
