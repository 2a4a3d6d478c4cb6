#include <torch/torch.h>

class Trainer {
 public:
  template <typename Loader>
  double validate(Loader& loader) {
    model_->eval();
    auto correct = torch::zeros({}, device_);
    size_t seen = 0;
    for (const auto& batch : *loader) {
      auto logits = model_->forward(batch.data.to(device_));  // expect: eval-with-grad
      correct += logits.argmax(1).eq(batch.target.to(device_)).sum();
      seen += batch.data.size(0);
    }
    model_->train();
    return correct.template item<double>() / seen;
  }

 private:
  Net model_;
  torch::Device device_;
};

// Perplexity of a text, window by window.
float eval_perplexity(GPT& model, const torch::Tensor& tokens, int64_t window) {
  model->eval();
  std::vector<torch::Tensor> losses;
  for (int64_t at = 0; at + window < tokens.size(0); at += window) {
    auto input = tokens.slice(0, at, at + window).unsqueeze(0);
    auto logits = model->forward(input);  // expect: eval-with-grad
    losses.push_back(torch::cross_entropy_loss(logits.squeeze(0), tokens.slice(0, at + 1, at + window + 1)));
  }
  return torch::stack(losses).mean().exp().item<float>();
}

// What the function is called says nothing.
double accuracy_of(Net& net, Loader& loader) {
  net->eval();
  double right = 0;
  for (auto& batch : loader) {
    auto logits = net->forward(batch.data);  // expect: eval-with-grad
    right += logits.argmax(1).eq(batch.target).sum().item<double>();
  }
  return right;
}
