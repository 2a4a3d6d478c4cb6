#include <torch/torch.h>

double evaluate(Net& model, Loader& loader, torch::Device device) {
  torch::NoGradGuard no_grad;
  model->eval();
  double total = 0;
  for (auto& batch : *loader) {
    auto output = model->forward(batch.data.to(device));
    total += torch::nll_loss(output, batch.target.to(device)).item<double>();
  }
  return total;
}

double validate(Net& model, Loader& loader) {
  c10::InferenceMode guard;
  model->eval();
  double total = 0;
  for (auto& batch : *loader) total += model->forward(batch.data).sum().item<double>();
  return total;
}
