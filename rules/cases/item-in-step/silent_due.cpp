#include <torch/torch.h>

// Methods that say when it is time: of the class itself, and of what another file declares.
bool Trainer::is_refining(int iter) const {
  return (iter > start_ && iter % refine_every_ == 0 && iter % reset_every_ >= pause_);
}

void Trainer::train_step(int iter) {
  auto loss = net_->forward(data_);
  loss.backward();
  optimizer_->step();
  if (is_refining(iter)) {
    std::cout << gradients_.mean().item<float>() << "\n";
    gradients_ = torch::zeros_like(gradients_).set_requires_grad(false);
  }
  if (sparsity_ && sparsity_->should_prune(iter)) {
    auto mask = sparsity_->mask(scores_);
    std::cout << mask.sum().item<int>() << " are pruned\n";
  }
}
