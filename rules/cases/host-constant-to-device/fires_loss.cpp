#include <torch/torch.h>

// Mean and scale of the images cross the bus with each batch.
struct NormalizeImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor image) {
    auto mean = torch::tensor({0.485f, 0.456f, 0.406f}).to(image.device());  // expect: host-constant-to-device
    return (image - mean.view({1, 3, 1, 1})) / 0.226;
  }
};

class PolicyTrainer {
 public:
  void train_step(const Rollout& rollout) {
    auto gammas = torch::tensor(discounts_, torch::TensorOptions().device(torch::kCUDA));  // expect: host-constant-to-device
    auto loss = (rollout.rewards * gammas - policy_->forward(rollout.states)).pow(2).mean();
    optimizer_->zero_grad();
    loss.backward();
    optimizer_->step();
  }

 private:
  Policy policy_;
  std::unique_ptr<torch::optim::Adam> optimizer_;
  std::vector<float> discounts_;
};
