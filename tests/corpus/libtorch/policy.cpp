// Reinforcement learning: a policy, a buffer of tensors, returns read back to the host.
#include <torch/torch.h>

#include <deque>
#include <memory>
#include <tuple>
#include <vector>

using torch::Tensor;
namespace nn = torch::nn;

class Policy : public nn::Module {
 public:
  Policy(int64_t inputs, int64_t actions)
      : body_(register_module("body", nn::Sequential(nn::Linear(inputs, 64), nn::Tanh()))),
        actor_(register_module("actor", nn::Linear(64, actions))),
        critic_(register_module("critic", nn::Linear(64, 1))) {}
  std::tuple<Tensor, Tensor> act(const Tensor& state) {
    const Tensor features = body_->forward(state);
    return {torch::softmax(actor_->forward(features), -1), critic_->forward(features)};
  }

 private:
  nn::Sequential body_;
  nn::Linear actor_, critic_;
};

struct Step {
  Tensor log_prob, value;
  float reward = 0;
};

class Trainer {
 public:
  Trainer(std::shared_ptr<Policy> policy, torch::Device device)
      : policy_(std::move(policy)),
        optimizer_(policy_->parameters(), torch::optim::AdamOptions(1e-3)),
        device_(device) {}

  void run(int episodes) {
    for (int episode = 0; episode < episodes; ++episode) {
      std::vector<Step> steps = play();
      update(steps);
    }
  }

 private:
  std::vector<Step> play() {
    std::vector<Step> steps;
    for (int i = 0; i < 100; ++i) {
      const Tensor state = torch::randn({1, 8}).to(device_);
      auto [probabilities, value] = policy_->act(state);
      const auto action = probabilities.multinomial(1).item<int64_t>();
      steps.push_back({probabilities[0][action].log(), value, 1.0F});
    }
    return steps;
  }

  void update(const std::vector<Step>& steps) {
    std::vector<float> returns;
    std::vector<Tensor> losses;
    float running = 0;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      running = step->reward + 0.99F * running;
      const Tensor advantage = running - step->value.detach();
      losses.push_back(-step->log_prob * advantage.item<float>());
    }
    const Tensor loss = torch::stack(losses).sum();
    optimizer_.zero_grad();
    loss.backward();
    nn::utils::clip_grad_norm_(policy_->parameters(), 0.5);
    optimizer_.step();
    history_.push_back(loss.item<float>());
    const Tensor host = loss.cpu();
  }

  std::shared_ptr<Policy> policy_;
  torch::optim::Adam optimizer_;
  torch::Device device_;
  std::deque<float> history_;
};
