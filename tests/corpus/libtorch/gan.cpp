// Two networks trained against each other, with helpers that read what they are given.
#include <torch/torch.h>

#include <cstdio>
#include <map>
#include <string>

#define SCALAR(x) ((x).item<float>())

namespace {

torch::nn::Sequential generator() {
  return torch::nn::Sequential(
      torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(100, 64, 4).bias(false)),
      torch::nn::BatchNorm2d(64), torch::nn::Functional(torch::relu),
      torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(64, 1, 4)),
      torch::nn::Functional(torch::tanh));
}

float value_of(const torch::Tensor& loss) { return loss.item<float>(); }

torch::Tensor penalty(const torch::Tensor& real, const torch::Tensor& fake) {
  auto mask = torch::triu(torch::ones({real.size(-1), real.size(-1)}, real.options()), 1);
  return ((real - fake) * mask).pow(2).mean();
}

double gradient_norm(torch::nn::Sequential& model) {
  double total = 0;
  for (const auto& parameter : model->parameters())
    total += parameter.grad().norm().item<double>();
  return total;
}

}  // namespace

int main() {
  const torch::Device device = torch::kCUDA;
  auto g = generator();
  torch::nn::Sequential d(torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 64, 4)),
                          torch::nn::Flatten(), torch::nn::Linear(64, 1), torch::nn::Sigmoid());
  g->to(device);
  d->to(device);
  torch::optim::Adam g_optimizer(g->parameters(), torch::optim::AdamOptions(2e-4));
  torch::optim::Adam d_optimizer(d->parameters(), torch::optim::AdamOptions(2e-4));
  auto loader = torch::data::make_data_loader(
      torch::data::datasets::MNIST("./mnist").map(torch::data::transforms::Stack<>()),
      torch::data::DataLoaderOptions().batch_size(64).workers(2));
  std::map<std::string, float> log;
  int64_t step = 0;
  for (int64_t epoch = 0; epoch < 30; ++epoch) {
    for (torch::data::Example<>& batch : *loader) {
      d->zero_grad();
      auto real = batch.data.to(device);
      auto labels = torch::empty(batch.data.size(0), device).uniform_(0.8, 1.0);
      auto real_output = d->forward(real).reshape(labels.sizes());
      auto real_loss = torch::binary_cross_entropy(real_output, labels);
      real_loss.backward();
      auto noise = torch::randn({batch.data.size(0), 100, 1, 1}, device);
      auto fake = g->forward(noise);
      auto fake_loss = penalty(real, fake.detach());
      fake_loss.backward();
      d_optimizer.step();
      g->zero_grad();
      auto g_loss = d->forward(fake).mean();
      g_loss.backward();
      g_optimizer.step();
      log["d"] = SCALAR(real_loss + fake_loss);
      log["g"] = value_of(g_loss);
      torch::cuda::synchronize();
      std::printf("%ld %g %g\n", step, gradient_norm(g), static_cast<double>(log["g"]));
      if (++step % 200 == 0) torch::save(fake.cpu(), "fake.pt");
    }
  }
}
