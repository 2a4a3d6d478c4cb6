#include <torch/torch.h>

// Methods that say something else of the step: that it is within a range, that it trains.
bool Trainer::is_warm(int iter) const {
  return iter > start_;
}

void Trainer::train_step(int iter) {
  auto loss = net_->forward(data_);
  loss.backward();
  optimizer_->step();
  if (is_warm(iter)) {
    total_ += loss.item<float>();  // expect: item-in-step
  }
  if (sparsity_ && sparsity_->should_apply(iter)) {
    total_ += sparsity_->loss(scores_).item<float>();  // expect: item-in-step
  }
  if (critic_->should_train(iter)) {
    total_ += critic_->loss(data_).item<float>();  // expect: item-in-step
  }
}
