// A trainer's own method puts the batch together on the host, called without `this`.
#include <torch/torch.h>

struct Trainer {
  torch::Tensor convertSample(const std::vector<int>& sample) {
    torch::Tensor out = torch::zeros({4, 1});
    for (int i = 0; i < 4; ++i) out[i][0] = sample[i];
    return out;
  }

  void run(Net& net) {
    for (int step = 0; step < steps_; ++step) {
      torch::Tensor input = convertSample(memory_.sample());
      input = input.to(device_);  // expect: create-then-move
      auto loss = net->forward(input);
      loss.backward();
      optimizer_.step();
    }
  }
};
