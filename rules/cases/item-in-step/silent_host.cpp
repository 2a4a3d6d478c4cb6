#include <torch/torch.h>

// A program that names no device: all of it stays on the host.
int main() {
  auto weights = torch::randn({4, 1}, torch::requires_grad());
  auto optimizer = torch::optim::SGD({weights}, 0.1);
  for (int step = 0; step < 100; ++step) {
    auto x = torch::randn({32, 4});
    auto loss = torch::mse_loss(x.mm(weights), x.sum(1, true));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (loss.item<float>() < 1e-3) {
      break;
    }
  }
}
