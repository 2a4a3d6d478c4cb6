#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer, torch::Device device) {
  auto weight = torch::tensor({0.1f, 0.9f}, torch::kCUDA);
  for (auto& batch : *loader) {
    auto zero = torch::zeros({2}, device);
    auto half = torch::tensor({0.5f}).to(torch::kFloat16);
    auto loss = (model.forward(batch.data) * weight + zero).mean();
    loss.backward();
    optimizer.step();
  }
}

int main() {
  torch::Tensor x = torch::tensor(1.0, torch::requires_grad());
  auto y = x * x;
  y.backward();
}
