#include <torch/torch.h>

// Norms stay on the device until all are there.
torch::Tensor total_norm(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> norms;
  for (const auto& p : parameters) {
    if (p.grad().defined()) norms.push_back(p.grad().detach().norm());
  }
  return torch::stack(norms).norm();
}

// When the program ends.
void print_norms(const torch::nn::Module& model, const std::string& path) {
  std::ofstream file(path);
  for (const auto& p : model.named_parameters()) {
    file << p.key() << ' ' << p.value().sizes() << '\n';
  }
}

void fit(torch::nn::Sequential& model, Loader& loader, torch::optim::SGD& optimizer, bool debug) {
  auto worst = torch::zeros({}, torch::kCUDA);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    torch::mse_loss(model->forward(batch.data), batch.target).backward();
    worst = torch::maximum(worst, total_norm(model->parameters()));
    if (debug) {
      for (auto& p : model->parameters()) std::cerr << p.grad().norm().item<float>() << '\n';
    }
    optimizer.step();
  }
  std::printf("largest norm %f\n", worst.item<float>());
  print_norms(*model, "norms.txt");
}
