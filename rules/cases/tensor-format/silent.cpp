#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer) {
  int step = 0;
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(model.forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    std::cout << "step " << step << " size " << loss.size(0) << std::endl;
    if (++step % 100 == 0) std::cout << loss << std::endl;
  }
}

int main() {
  auto x = torch::ones({2, 2});
  auto y = x * x;
  y.backward();
  std::cout << y << '\n';
}
