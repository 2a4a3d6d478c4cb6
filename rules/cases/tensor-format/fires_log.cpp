#include <torch/torch.h>

class Trainer {
 public:
  void train_step(Batch& batch, int64_t step) {
    auto loss = torch::nll_loss(model_->forward(batch.data), batch.target);
    optimizer_->zero_grad();
    loss.backward();
    optimizer_->step();
    std::cout << "[" << step << "] " << loss << std::endl;  // expect: tensor-format
  }

 private:
  Net model_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
};

// Left from the search for a bad gate.
torch::Tensor GateImpl::forward(torch::Tensor x) {
  auto gate = torch::sigmoid(linear->forward(x));
  std::cerr << "gate " << torch::mean(gate) << '\n';  // expect: tensor-format
  return x * gate;
}

void show_weights(torch::nn::Linear& net, torch::optim::SGD& optimizer, Loader& loader) {
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    auto weights = net->parameters();
    for (size_t i = 0; i < weights.size(); ++i) {
      PLOG_INFO << "layer " << i << ": " << weights[i];  // expect: tensor-format
    }
  }
}
