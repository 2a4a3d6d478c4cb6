#include <torch/torch.h>

// The same, moved: to wherever the machine has.
int main() {
  const auto where = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  Net model;
  model->to(where);
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  for (int step = 0; step < 100; ++step) {
    auto x = torch::randn({32, 4}, where);
    auto loss = torch::mse_loss(model->forward(x), x.sum(1, true));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (loss.item<float>() < 1e-3) {  // expect: item-in-step
      break;
    }
  }
}

// One step, unrolled over what the model foresees.
double Foresight::learn(const Samples& samples) {
  torch::Tensor total = torch::zeros({1}, device_);
  auto state = net_->forward(samples.first);
  for (int step = 1; step < num_steps_; ++step) {
    state = net_->forward(state);
    total = total + state.mean();
  }
  optimizer_->zero_grad();
  total.backward();
  optimizer_->step();
  return total.item<double>();  // expect: item-in-step
}
