// What is stacked stays where it is, is moved once, or leaves the device.
#include <torch/torch.h>

torch::Tensor load_all(const std::vector<torch::Tensor>& images, torch::Device device) {
  auto all = torch::stack(images);
  return torch::stack(images).to(device);
}

void train(Net& net, torch::optim::Adam& optimizer, const std::vector<torch::Tensor>& images,
           torch::Device device) {
  auto x = load_all(images, device);
  for (int step = 0; step < 10000; ++step) {
    optimizer.zero_grad();
    std::vector<torch::Tensor> losses = {net->forward(x).mean(), net->penalty()};
    auto loss = torch::stack(losses).to(torch::kFloat32).sum();
    loss.backward();
    optimizer.step();
  }
}
