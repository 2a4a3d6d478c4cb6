#include <torch/torch.h>

void train(torch::nn::Linear net, torch::optim::Adam& optimizer, std::vector<std::vector<float>>& images) {
  for (auto& image : images) {
    auto pinned = torch::from_blob(image.data(), {1, 64}).pin_memory();
    auto loss = net->forward(pinned.to(torch::kCUDA, true)).mean();
    loss = loss.to(torch::kFloat, true);  // a type
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
