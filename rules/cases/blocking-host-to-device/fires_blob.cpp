#include <torch/torch.h>

void Potential::train_step(std::vector<float>& positions, std::vector<int64_t>& species,
                           torch::optim::Adam& optimizer, torch::Device device) {
  const int64_t n = species.size();
  auto x = torch::from_blob(positions.data(), {n, 3}).to(device);  // expect: blocking-host-to-device
  auto kinds = torch::from_blob(species.data(), {n}, torch::kLong);
  kinds = kinds.to(device);  // expect: blocking-host-to-device
  auto loss = net_->forward(x, kinds).sum();
  loss.backward();
  optimizer.step();
}

void train_on_records(Net& net, Records& records, torch::optim::Adam& optimizer, torch::Device device) {
  auto float_options = torch::TensorOptions().dtype(torch::kFloat32);
  while (records.next()) {
    auto x = torch::from_blob(records.x(), {32, 8}, float_options).clone().to(device);  // expect: blocking-host-to-device
    net->forward(x).mean().backward();
    optimizer.step();
  }
}
