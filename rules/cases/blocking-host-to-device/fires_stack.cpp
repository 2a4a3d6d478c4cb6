// Samples of a replay buffer, put together on the host.
#include <torch/torch.h>

void train(Replay& replay, Net& net, torch::optim::Adam& optimizer, torch::Device device) {
  for (int step = 0; step < 10000; ++step) {
    std::vector<torch::Tensor> states, rewards;
    for (const auto& sample : replay.draw(64)) {
      states.push_back(sample.state);
      rewards.push_back(sample.reward);
    }
    auto x = torch::stack(states).to(device);  // expect: blocking-host-to-device
    auto y = torch::cat(rewards, 0).to(device);  // expect: blocking-host-to-device
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    optimizer.step();
  }
}
