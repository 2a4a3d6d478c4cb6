#include <torch/torch.h>

// A loader that is called: true while there are batches.
void valid(Model& gen, Loader& valid_dataloader, Loss criterion, torch::Device device) {
  torch::NoGradGuard no_grad;
  float total_loss = 0.0f;
  while (valid_dataloader(mini_batch)) {
    auto image = std::get<0>(mini_batch).to(device);
    auto loss = criterion(gen->forward(image), image);
    total_loss += loss.item<float>();  // expect: item-in-step
  }
}
