#include <torch/torch.h>

int main() {
  auto net = std::make_shared<Net>();
  net->to(torch::kCPU);
  auto table = torch::ones({2, 3});
  auto copy = table.to(torch::kCPU);
  return 0;
}

void train_and_move(Network& network, Loader& loader) {
  for (auto& batch : loader) {
    auto loss = network->forward(batch.data);
    loss.backward();
    optimizer.step();
    if (batch.last) network->to(torch::kCPU);
    other_network->to(torch::kCPU);
  }
}
