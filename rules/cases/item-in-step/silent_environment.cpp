#include <torch/torch.h>

// Rewards of an environment on the host.
void train(Environment& env, ActorCritic& ac, torch::optim::Adam& optimizer) {
  double average = 0;
  std::vector<torch::Tensor> rewards;
  for (int step = 0; step < 2048; ++step) {
    rewards.push_back(env.reward());
    average += rewards[step][0][0].item<double>();
    auto loss = ac->loss(rewards);
    loss.backward();
    optimizer.step();
  }
}
