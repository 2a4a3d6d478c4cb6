#include <torch/torch.h>

// Once, when the network is made.
void scale_init(torch::nn::Module& model, double gain) {
  torch::NoGradGuard guard;
  for (auto& p : model.parameters()) {
    if (p.dim() > 1) p.normal_(0, gain / std::sqrt(p.size(1)));
  }
}

// Now and then the slow network takes the weights of the fast one.
void train_dqn(QNet& online, QNet& target, Replay& replay, torch::optim::Adam& optimizer) {
  scale_init(*online, 1.0);
  for (int64_t step = 0; step < 1000000; ++step) {
    auto batch = replay.sample(64);
    auto loss = torch::smooth_l1_loss(online->forward(batch.state), batch.value);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 1000 == 0) {
      torch::NoGradGuard guard;
      auto from = online->parameters(), to = target->parameters();
      for (size_t i = 0; i < to.size(); ++i) to[i].mul_(0.5).add_(from[i], 0.5);
    }
  }
}

// Feature maps, not parameters: each has a size of its own.
torch::Tensor PyramidImpl::forward(const std::vector<torch::Tensor>& levels) {
  std::vector<torch::Tensor> out;
  for (const auto& level : levels) {
    out.push_back(lateral_->forward(level).mul_(0.5));
  }
  return torch::cat(out, 1);
}
