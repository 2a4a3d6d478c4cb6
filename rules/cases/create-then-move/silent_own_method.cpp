// What a method gives may be on the device already, or there only when nothing is to be done.
#include <torch/torch.h>

struct Trainer {
  torch::Tensor penalty(const torch::Tensor& weights) {
    if (!enabled_) return torch::zeros({1});
    return weights.abs().sum();
  }

  torch::Tensor start(const torch::Tensor& like) {
    return torch::zeros({4, 1}, like.options());
  }

  void run(Net& net) {
    for (int step = 0; step < steps_; ++step) {
      auto loss = net->forward(start(weights_)) + penalty(weights_).to(device_);
      loss.backward();
      optimizer_.step();
    }
  }
};
