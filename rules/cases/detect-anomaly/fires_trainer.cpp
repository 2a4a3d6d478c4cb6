#include <torch/torch.h>

class Trainer {
 public:
  Trainer(Net model, double rate) : model_(model), optimizer_(model_->parameters(), rate) {
    torch::autograd::AnomalyMode::set_enabled(true);  // expect: detect-anomaly
    model_->train();
  }

  template <typename Loader>
  void fit(Loader& loader) {
    torch::autograd::AnomalyMode::set_enabled(true, /*check_nan=*/true);  // expect: detect-anomaly
    for (auto& batch : *loader) {
      optimizer_.zero_grad();
      auto loss = torch::nll_loss(model_->forward(batch.data), batch.target);
      loss.backward();
      optimizer_.step();
    }
  }

 private:
  Net model_;
  torch::optim::SGD optimizer_;
};

// On from the first step to the last.
int main(int argc, char** argv) {
  torch::manual_seed(1);
  torch::autograd::AnomalyMode::set_enabled(true);  // expect: detect-anomaly
  Trainer trainer(Net(), 0.1);
  trainer.fit(make_loader(argv[1]));
}
