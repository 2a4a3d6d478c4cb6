#include <torch/torch.h>

// What makes an optimiser steps nothing: its loop is elsewhere, and what stands here runs once.
void demo(Net& model, const std::vector<Batch>& batches) {
  auto optimizer = torch::optim::AdamW(model->parameters(), torch::optim::AdamWOptions(4e-4));
  auto before = average_loss(model, batches);
  std::cout << "before: " << before.item<double>() << "\n";
  fit(model, batches, optimizer);
}

void fit(Net& model, const std::vector<Batch>& batches, torch::optim::AdamW& optimizer) {
  for (int64_t epoch = 0; epoch < 10; ++epoch) {
    for (const auto& batch : batches) {
      optimizer.zero_grad();
      auto loss = torch::nll_loss(model->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
    }
    auto shown = average_loss(model, batches);
    std::cout << "epoch: " << shown.item<double>() << "\n";
  }
}

int main() {
  Net model;
  demo(model, load());
}
