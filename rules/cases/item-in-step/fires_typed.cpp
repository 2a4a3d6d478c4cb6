// Macros hide the read: without types nothing is found here.
#include <torch/torch.h>

#define VALUE(t) (t).item<float>()
#define LOG_VALUE(name, t) \
  do {                     \
    log(name, VALUE(t));   \
  } while (0)

using Batches = std::vector<torch::data::Example<>>;

void train(torch::nn::Sequential model, Batches& batches, torch::optim::Adam& optimizer) {
  double running = 0;
  for (auto& batch : batches) {
    auto loss = torch::nll_loss(model->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    running += VALUE(loss);   // expect with types: item-in-step
    LOG_VALUE("loss", loss);  // expect with types: item-in-step
  }
}
