#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer, torch::Device device) {
  for (auto& batch : *loader) {
    auto weight = torch::tensor({0.1f, 0.9f}, torch::kCUDA);  // expect: host-constant-to-device
    auto scale = torch::tensor(2.0f).to(device);  // expect: host-constant-to-device
    auto bias = torch::tensor({1.0f, 2.0f}, torch::TensorOptions().device(device));  // expect: host-constant-to-device
    auto loss = (model.forward(batch.data) * weight * scale + bias).mean();
    loss.backward();
    optimizer.step();
  }
}
