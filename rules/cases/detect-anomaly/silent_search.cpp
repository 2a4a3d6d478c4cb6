#include <torch/torch.h>

// Asked for by whoever starts the program.
void configure(const Options& options) {
  torch::manual_seed(options.seed);
  torch::autograd::AnomalyMode::set_enabled(options.detect_anomaly);
}

// The batch that went wrong is run once more, with detection on.
void find_cause(Net& model, const Batch& batch) {
#ifndef NDEBUG
  torch::autograd::AnomalyMode::set_enabled(true);
#endif
  auto loss = torch::nll_loss(model->forward(batch.data), batch.target);
  loss.backward();
}

void report_mode() {
  const bool on = torch::autograd::AnomalyMode::is_enabled();
  if (on) std::cerr << "anomaly detection slows every step down" << std::endl;
}

TEST(Gradients, HaveNumbers) {
  torch::autograd::AnomalyMode::set_enabled(true);
  auto x = torch::ones({4}, torch::requires_grad());
  x.log().sum().backward();
  EXPECT_TRUE(x.grad().isfinite().all().item<bool>());
}
