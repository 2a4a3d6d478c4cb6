#include <torch/torch.h>

double clip(const std::vector<torch::Tensor>& parameters, double most) {
  double total = 0;
  for (const auto& p : parameters) {
    total += std::pow(p.grad().norm().item<double>(), 2);  // expect: per-parameter-norm
  }
  total = std::sqrt(total);
  if (total > most) {
    for (auto& p : parameters) p.grad().mul_(most / total);
  }
  return total;
}

void train(torch::nn::Sequential& model, Loader& loader, torch::optim::SGD& optimizer) {
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(model->forward(batch.data), batch.target);
    loss.backward();
    clip(model->parameters(), 1.0);
    for (auto& p : model->parameters()) {
      if (p.grad().isnan().any().item<bool>()) skipped += 1;  // expect: per-parameter-norm
      largest = std::max(largest, p.grad().abs().max().item<float>());  // expect: per-parameter-norm
    }
    optimizer.step();
  }
}
