#include <torch/torch.h>

// Pinned and asynchronous.
void Potential::train_step(std::vector<float>& positions, torch::optim::Adam& optimizer,
                           torch::Device device) {
  const int64_t n = positions.size() / 3;
  auto host = torch::from_blob(positions.data(), {n, 3}).pin_memory();
  auto x = host.to(device, /*non_blocking=*/true);
  auto loss = net_->forward(x).sum();
  loss.backward();
  optimizer.step();
}

// Once, before the steps.
void Potential::setup_boundaries(std::vector<float>& edges, torch::Device device) {
  edges_ = torch::from_blob(edges.data(), {3, 2}).to(device);
}
