// item() of the program's own classes, which lies on the host: without types it may be a tensor's.
#include <torch/torch.h>

struct Meter {
  double total = 0;
  double item() const { return total; }
};
struct Entry {
  Meter meter;
  const Meter& current() const { return meter; }
};

using Batches = std::vector<torch::data::Example<>>;

void train(torch::nn::Sequential model, Batches& batches, torch::optim::Adam& optimizer, Meter& meter, Entry& entry) {
  for (auto& batch : batches) {
    auto loss = torch::nll_loss(model->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    log(meter.item());            // expect without types: item-in-step
    log(entry.current().item());  // expect without types: item-in-step
  }
}
