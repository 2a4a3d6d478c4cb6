#include <torch/torch.h>

int main() {
  auto net = std::make_shared<Net>();
  net->to(torch::kCPU);
  auto table = torch::ones({2, 3});
  auto copy = table.to(torch::kCPU);
  return 0;
}
