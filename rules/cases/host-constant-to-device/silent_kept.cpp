#include <torch/torch.h>

// The mean and the scale of the images are kept on the device.
struct NormalizeImpl : torch::nn::Module {
  NormalizeImpl() {
    mean_ = register_buffer("mean", torch::tensor({0.485f, 0.456f, 0.406f}).view({1, 3, 1, 1}));
  }
  torch::Tensor forward(const torch::Tensor& image) {
    if (!scale_.defined()) scale_ = torch::tensor({0.229f, 0.224f, 0.225f}, image.options());
    return (image - mean_) / scale_.view({1, 3, 1, 1});
  }
  torch::Tensor mean_, scale_;
};

// A number needs no tensor.
torch::Tensor focal_forward(const torch::Tensor& logits, const torch::Tensor& target) {
  const double alpha = 0.25;
  auto p = torch::sigmoid(logits);
  return (-alpha * torch::pow(1 - p, 2.0) * target * torch::log(p + 1e-8)).mean();
}

// What is one number is filled in on the device, not copied to it.
class Agent {
 public:
  void train_step(const Rollout& rollout) {
    auto options = torch::TensorOptions().device(torch::kCUDA);
    auto gamma = torch::tensor(discount_, options);
    auto zero = torch::tensor(0.0, options.requires_grad(true));
    auto loss = (rollout.rewards * gamma - policy_->forward(rollout.states)).mean() + zero;
    loss.backward();
    optimizer_->step();
  }

 private:
  float discount_ = 0.99f;
};
