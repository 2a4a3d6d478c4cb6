#include <torch/torch.h>

void train(torch::nn::Sequential model, torch::optim::Adam& optimizer) {
  int step = 0;
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(model->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    if (step++ % 100 == 0) {
      std::cout << loss.item<float>() << std::endl;
    }
  }
}
