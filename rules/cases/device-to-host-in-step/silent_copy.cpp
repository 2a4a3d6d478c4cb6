// Copies that do not wait, or stay where they are.
#include <torch/torch.h>

void train(Net& net, torch::optim::Adam& optimizer, Loader& loader, torch::Device device) {
  auto kept = torch::empty({1}, torch::TensorOptions().pinned_memory(true));
  auto total = torch::zeros({1}, torch::TensorOptions().device(device));
  for (auto& batch : *loader) {
    auto loss = net->forward(batch.data.to(device)).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    kept.copy_(loss.detach(), /*non_blocking=*/true);
    total.copy_(loss.detach());
  }
}
