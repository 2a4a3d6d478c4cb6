#include <torch/torch.h>

// Steps are timed with the host's clock, each of them.
class Trainer {
 public:
  template <typename Loader>
  void fit(Loader& loader) {
    for (auto& batch : *loader) {
      const auto begin = std::chrono::steady_clock::now();
      auto loss = torch::mse_loss(model_->forward(batch.data), batch.target);
      optimizer_->zero_grad();
      loss.backward();
      optimizer_->step();
      torch::cuda::synchronize();  // expect: explicit-sync
      seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
  }

 private:
  Net model_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
  double seconds_ = 0;
};
