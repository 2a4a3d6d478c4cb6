#include <torch/torch.h>

// Gradients of each layer are written at every step.
class Trainer {
 public:
  void train_step(Batch& batch) {
    optimizer_->zero_grad();
    auto loss = torch::mse_loss(model_->forward(batch.data), batch.target);
    loss.backward();
    for (const auto& p : model_->named_parameters()) {
      writer_.add(p.key(), p.value().grad().norm().item<float>());  // expect: per-parameter-norm
    }
    optimizer_->step();
  }

 private:
  Net model_;
  Writer writer_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
};
