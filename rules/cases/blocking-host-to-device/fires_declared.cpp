// A step that is handed the tensors of a batch, and a dtype beside the device.
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
      step(batch.data, batch.target);
    }
  }

 private:
  void step(torch::Tensor data, const torch::Tensor& target) {
    auto x = data.to(device_);  // expect: blocking-host-to-device
    auto y = target.to(device_, torch::kLong);  // expect: blocking-host-to-device
    auto loss = torch::nn::functional::cross_entropy(net_->forward(x), y);
    optimizer_.zero_grad();
    loss.backward();
    optimizer_.step();
  }

  torch::Device device_{torch::kCUDA};
  Net net_;
  torch::optim::SGD optimizer_{net_->parameters(), 0.1};
};

void fit(Net& net, torch::optim::Adam& optimizer, torch::Device device) {
  Scene dataset = load_scene("scene");
  for (int i = 0; i < 1000; i++) {
    auto target = dataset.images[i % dataset.count].to(device);  // expect: blocking-host-to-device
    auto loss = torch::mse_loss(net->forward(target), target);
    loss.backward();
    optimizer.step();
  }
}
