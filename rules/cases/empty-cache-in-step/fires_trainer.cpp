#include <torch/torch.h>

#include <c10/cuda/CUDACachingAllocator.h>

// Written against the memory that validation leaves behind.
class Trainer {
 public:
  void fit(int epochs) {
    for (int epoch = 0; epoch < epochs; ++epoch) {
      for (auto& batch : *loader_) {
        train_step(batch);
      }
    }
  }

 private:
  void train_step(Batch& batch) {
    c10::cuda::CUDACachingAllocator::emptyCache();  // expect: empty-cache-in-step
    auto loss = torch::mse_loss(model_->forward(batch.data), batch.target);
    optimizer_->zero_grad();
    loss.backward();
    optimizer_->step();
  }
};

// Two networks in turn, and the cache goes between them.
void train_gan(Generator& generator, Discriminator& discriminator, Loader& loader,
               torch::optim::Adam& g_optimizer, torch::optim::Adam& d_optimizer) {
  using c10::cuda::CUDACachingAllocator::emptyCache;
  for (auto& batch : *loader) {
    auto fake = generator->forward(torch::randn({64, 100}, batch.data.options()));
    discriminator->forward(fake.detach()).mean().backward();
    d_optimizer.step();
    emptyCache();  // expect: empty-cache-in-step
    discriminator->forward(fake).mean().neg().backward();
    g_optimizer.step();
  }
}
