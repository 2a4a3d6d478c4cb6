#include <torch/torch.h>

void update_average(std::vector<torch::Tensor> average, std::vector<torch::Tensor> parameters) {
  torch::NoGradGuard guard;
  for (size_t i = 0; i < parameters.size(); ++i) {
    average[i].mul_(0.999).add_(parameters[i], 0.001);  // expect: per-tensor-optimizer-loop
  }
}

void train(Net& model, Net& teacher, Loader& loader, torch::optim::Adam& optimizer) {
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(model->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    update_average(teacher->parameters(), model->parameters());
    for (auto& p : model->parameters()) p.grad().mul_(0.5);  // expect: per-tensor-optimizer-loop
  }
}

void update_target(Net& online, Net& target, double tau) {
  torch::NoGradGuard guard;
  auto fast = online->parameters();
  auto slow = target->parameters();
  for (size_t i = 0; i < slow.size(); ++i) {
    slow[i].mul_(1 - tau).add_(fast[i], tau);  // expect: per-tensor-optimizer-loop
  }
}


void follow(torch::nn::Module& target, torch::nn::Module& source, double beta) {
  torch::NoGradGuard no_grad;
  auto from = source.named_parameters();
  for (auto entry : target.named_parameters()) {
    auto p = entry.value();
    p.copy_(beta * p + (1. - beta) * from[entry.key()]);  // expect: per-tensor-optimizer-loop
  }
}

class Agent {
 public:
  void learn(const Batch& batch) {
    auto loss = torch::mse_loss(local_->forward(batch.states), batch.targets);
    optimizer_.zero_grad();
    loss.backward();
    for (unsigned i = 0; i < local_->parameters().size(); i++) {
      torch::clamp(local_->parameters()[i], -1., 1.);  // expect: per-tensor-optimizer-loop
    }
    optimizer_.step();
    follow();
  }

 private:
  void follow(double tau);
  Net local_, target_;
  torch::optim::Adam optimizer_{local_->parameters(), 1e-3};
};

// The declaration has a default.
void Agent::follow(double tau) {
  for (unsigned i = 0; i < local_->parameters().size(); i++) {
    target_->parameters().at(i).detach().copy_(tau * local_->parameters().at(i) +  // expect: per-tensor-optimizer-loop
                                               (1. - tau) * target_->parameters().at(i));
  }
}

void run(Agent& agent, Memory& memory) {
  for (int i = 0; i < 1000; ++i) agent.learn(memory.sample());
}
