#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer) {
  int step = 0;
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(model.forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    if (++step % 100 == 0) {
      std::cout << loss.cpu() << std::endl;
    }
  }
}

void save_checkpoint(Net& model, const std::string& path) {
  auto weights = model.forward(torch::ones(1)).cpu();
  torch::save(weights, path);
}

void keep(Net& model, DataLoader& loader, torch::optim::SGD& optimizer) {
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(model.forward(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    record(loss.to(torch::kCPU, /*non_blocking=*/true));  // into pinned memory
  }
}
