#include <torch/torch.h>

// Images of each step are shown, whoever looks at them.
class Trainer {
 public:
  void train_step(Batch& batch) {
    auto output = model_->forward(batch.data);
    auto loss = torch::l1_loss(output, batch.target);
    optimizer_->zero_grad();
    loss.backward();
    optimizer_->step();
    viewer_.show(output.detach().cpu());  // expect: device-to-host-in-step
  }

 private:
  Net model_;
  std::unique_ptr<torch::optim::Adam> optimizer_;
  Viewer viewer_;
};

struct MatcherImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor boxes, torch::Tensor wanted) {
    auto cost = torch::cdist(boxes, wanted);
    auto host = cost.to(torch::kCPU);  // expect: device-to-host-in-step
    return assign(host).to(boxes.device());
  }
};

struct ReporterImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto probabilities = torch::softmax(x, 1);
    keep(probabilities.to(torch::Device(torch::kCPU)));  // expect: device-to-host-in-step
    return probabilities;
  }
};

using Heads = std::pair<torch::Tensor, torch::Tensor>;

struct TwoHeadsImpl : torch::nn::Module {
  Heads split(torch::Tensor x) { return std::make_pair(policy->forward(x), value->forward(x)); }
  torch::Tensor forward(torch::Tensor x) {
    auto hidden = trunk->forward(x);
    keep(hidden.to(torch::DeviceType::CPU));  // expect: device-to-host-in-step
    auto [policies, values] = split(hidden);
    keep(policies.to(c10::kCPU));  // expect: device-to-host-in-step
    auto both = split(hidden);
    keep(both.second.to(torch::Device(torch::DeviceType::CPU)));  // expect: device-to-host-in-step
    keep(values.to(torch::TensorOptions().device(torch::kCPU)));  // expect: device-to-host-in-step
    return policies;
  }
  torch::nn::Linear trunk{nullptr}, policy{nullptr}, value{nullptr};
};

void train(Agent agent, Network& network, torch::Tensor values, Loader& loader) {
  for (auto& batch : loader) {
    auto loss = network->forward(batch.data);
    loss.backward();
    optimizer.step();
    history.push_back(difference(values, batch).abs().to(torch::kCPU));  // expect: device-to-host-in-step
    action = agent->act(batch.data).to(torch::kCPU);  // expect: device-to-host-in-step
  }
}
