// What a module gives behind a pointer is no tensor: its methods are the program's.
#include <torch/torch.h>

struct Output {
  torch::Tensor loss(const torch::Tensor& wanted) const {
    auto off = torch::abs(values - wanted);
    if (off.max().item().toFloat() > limit) throw std::runtime_error("far off");  // expect: item-in-step
    return off.mean();
  }
  torch::Tensor values;
  float limit = 1e3f;
};

void train(Module& module, torch::optim::Optimizer& optimizer, Loader& loader) {
  for (auto& batch : loader) {
    auto output = module->forward(batch.data);
    auto loss = output->loss(batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
