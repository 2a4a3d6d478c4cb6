#include <torch/torch.h>

// A step is left out when its gradients are not finite.
class Trainer {
 public:
  void train_step(Batch& batch) {
    auto loss = torch::mse_loss(model_->forward(batch.data), batch.target);
    optimizer_->zero_grad();
    loss.backward();
    auto norm = torch::norm(loss);
    if (torch::isinf(norm).any().item<bool>() || skipped_) return;
    if (norm > limit_) skipped_ = true;  // expect: tensor-truthiness
    optimizer_->step();
  }

 private:
  Net model_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
  double limit_ = 100;
  bool skipped_ = false;
};

torch::Tensor PonderImpl::forward(torch::Tensor x) {
  auto halted = torch::zeros({x.size(0)}, x.options());
  while ((halted < 0.99).any().item<bool>()) {
    auto p = torch::sigmoid(halt->forward(x)).squeeze(-1);
    halted = halted + p;
    if (torch::all(halted > 0.5)) break;  // expect: tensor-truthiness
  }
  return x;
}
