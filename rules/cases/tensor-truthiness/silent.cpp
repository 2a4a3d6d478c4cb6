#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer) {
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(model.forward(batch.data), batch.target);
    if (loss.defined() && loss.dim() == 0) loss.backward();
    if (batch.data.size(0) > 4) optimizer.step();
    auto bad = torch::isnan(loss).any();
    loss = torch::where(bad, torch::zeros_like(loss), loss);
  }
}

torch::Tensor forward_typed(const torch::Tensor& g1) {
  bool type_flag = (g1.dtype() == torch::kDouble) ? true : false;
  if (g1.device() == torch::kCPU) return g1;
  return type_flag ? g1 * 2 : g1;
}
