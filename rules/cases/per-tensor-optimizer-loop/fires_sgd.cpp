#include <torch/torch.h>

// An optimizer of the program's own: some kernels for each parameter.
class Momentum {
 public:
  void step() {
    torch::NoGradGuard guard;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      auto& p = parameters_[i];
      velocity_[i].mul_(momentum_).add_(p.grad());  // expect: per-tensor-optimizer-loop
      p.add_(velocity_[i], -rate_);
    }
  }

 private:
  std::vector<torch::Tensor> parameters_, velocity_;
  double momentum_ = 0.9, rate_ = 0.1;
};

// The slow network follows the fast one after each step.
void train_byol(Encoder& online, Encoder& target, Loader& loader, torch::optim::Adam& optimizer) {
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(online->forward(batch.data), target->forward(batch.data).detach());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    torch::NoGradGuard guard;
    for (size_t i = 0; i < target->parameters().size(); ++i) {
      target->parameters()[i].lerp_(online->parameters()[i], 0.01);  // expect: per-tensor-optimizer-loop
    }
  }
}
