#include <torch/torch.h>

void train(torch::nn::Linear net, torch::optim::Adam& optimizer, std::vector<std::vector<float>>& images) {
  for (auto& image : images) {
    auto input = torch::from_blob(image.data(), {1, 64}).to(torch::kCUDA, true);  // expect: non-blocking-unpinned
    auto loss = net->forward(input).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
