#include <torch/torch.h>

void train(Net& model, Loader& loader, torch::optim::Adam& optimizer) {
  for (auto& p : model->parameters()) p.mul_(0.1);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(model->forward(batch.data), batch.target);
    loss.backward();
    at::_foreach_mul_(gradients(model), 0.5);
    optimizer.step();
  }
}
