#include <torch/torch.h>

double evaluate(Net& model, Loader& loader, torch::Device device) {
  model->eval();
  double total = 0;
  for (auto& batch : *loader) {
    auto output = model->forward(batch.data.to(device));  // expect: eval-with-grad
    total += torch::nll_loss(output, batch.target.to(device)).item<double>();
  }
  return total;
}
