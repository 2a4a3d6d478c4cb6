#include <torch/torch.h>

// The first state of each sequence.
struct DecoderImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) {
    auto h = torch::zeros({layers_, x.size(0), width_}).to(x.device());  // expect: create-then-move
    auto [out, last] = gru->forward(x, h);
    return out;
  }
  torch::nn::GRU gru{nullptr};
  int64_t layers_ = 2, width_ = 256;
};

// Noise and labels of a GAN.
void train_gan(Generator& generator, Discriminator& discriminator, Loader& loader,
               torch::optim::Adam& g_optimizer, torch::optim::Adam& d_optimizer, torch::Device device) {
  for (auto& batch : *loader) {
    discriminator->zero_grad();
    auto labels = torch::empty(batch.data.size(0)).uniform_(0.8, 1.0).to(device);  // expect: create-then-move
    auto real = torch::binary_cross_entropy(discriminator->forward(batch.data), labels);
    real.backward();
    torch::Tensor noise = torch::randn({batch.data.size(0), 100, 1, 1}).to(device);  // expect: create-then-move
    auto fake = generator->forward(noise);
    d_optimizer.step();
    torch::binary_cross_entropy(discriminator->forward(fake), labels).backward();
    g_optimizer.step();
  }
}
