#include <torch/torch.h>

double evaluate_frozen(Net& model, Loader& loader) {
  torch::AutoGradMode no_grad(false);
  model->eval();
  double total = 0;
  for (auto& batch : *loader) total += model->forward(batch.data).mean().item<double>();
  return total;
}

// Gradients by the image are what is asked for.
torch::Tensor evaluate_saliency(Net& model, Loader& loader) {
  model->eval();
  std::vector<torch::Tensor> maps;
  for (auto& batch : *loader) {
    auto image = batch.data.set_requires_grad(true);
    model->forward(image).amax(1).sum().backward();
    maps.push_back(image.grad().abs());
  }
  return torch::cat(maps);
}

// Dropout stays off while the last layer is trained.
void fine_tune(Net& model, Loader& loader, torch::optim::SGD& optimizer) {
  model->eval();
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    torch::nll_loss(model->forward(batch.data), batch.target).backward();
    optimizer.step();
  }
}
