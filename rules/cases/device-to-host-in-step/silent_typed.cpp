// cpu() and to() of the program's own classes copy nothing: without types cpu() may be a tensor's.
#include <torch/torch.h>

struct Usage {
  double share = 0;
  double cpu() const { return share; }
};

using Batches = std::vector<torch::data::Example<>>;

void train(torch::nn::Sequential model, Batches& batches, torch::optim::Adam& optimizer, Usage& usage) {
  for (auto& batch : batches) {
    auto loss = torch::nll_loss(model->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    log(usage.cpu());  // expect without types: device-to-host-in-step
  }
}
