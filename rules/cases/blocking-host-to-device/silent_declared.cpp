// A copy that does not block, what a caller moved before, and a cast.
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", torch::nn::Linear(10, 2)); }
  torch::Tensor forward(torch::Tensor x) { return fc(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

class Trainer {
 public:
  template <class Loader>
  void fit(Loader& loader) {
    for (auto& batch : *loader) {
      auto y = batch.target.to(device_, torch::kLong, true);
      step(batch.data, y.to(torch::kFloat));
    }
  }

 private:
  void step(torch::Tensor data, const torch::Tensor& target) {
    auto x = data.to(device_, torch::kFloat, /*non_blocking=*/true);
    auto loss = torch::mse_loss(net_->forward(x), target.to(device_));
    optimizer_.zero_grad();
    loss.backward();
    optimizer_.step();
  }

  torch::Device device_{torch::kCUDA};
  Net net_;
  torch::optim::SGD optimizer_{net_->parameters(), 0.1};
};
