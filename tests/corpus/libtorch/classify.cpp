// A classifier as LibTorch's users write it: a module, a data loader, a loop over epochs.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

struct NetImpl : torch::nn::Module {
  NetImpl(int64_t hidden, int64_t classes)
      : conv(torch::nn::Conv2dOptions(1, 16, 3).padding(1)), norm(16), fc(hidden, classes) {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("fc", fc);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(norm->forward(conv->forward(x)));
    auto keep = torch::ones({x.size(0), x.size(1)}).to(x.device());
    x = x * keep.unsqueeze(-1).unsqueeze(-1);
    return torch::log_softmax(fc->forward(x.flatten(1)), 1);
  }
  torch::nn::Conv2d conv;
  torch::nn::BatchNorm2d norm;
  torch::nn::Linear fc;
};
TORCH_MODULE(Net);

struct Meter {
  double sum = 0;
  int64_t count = 0;
  void add(double value, int64_t n) { sum += value * static_cast<double>(n), count += n; }
  double item() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

template <typename Loader>
void train(Net& model, Loader& loader, torch::optim::Optimizer& optimizer, torch::Device device,
           Meter& meter) {
  model->train();
  int64_t step = 0;
  for (auto& batch : loader) {
    auto data = batch.data.to(device), target = batch.target.to(device);
    optimizer.zero_grad();
    auto output = model->forward(data);
    auto loss = torch::nll_loss(output, target);
    if (std::isnan(loss.template item<float>())) break;
    loss.backward();
    optimizer.step();
    meter.add(loss.template item<double>(), data.size(0));
    if (step++ % 50 == 0) std::cout << meter.item() << ' ' << loss.template item<float>() << '\n';
  }
}

int main() {
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Net model(16 * 28 * 28, 10);
  model->to(device);
  auto dataset = torch::data::datasets::MNIST("./data")
                     .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                     .map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(dataset), torch::data::DataLoaderOptions().batch_size(64));
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.01).momentum(0.5));
  Meter meter;
  for (int epoch = 1; epoch <= 10; ++epoch) {
    for (auto& batch : *loader) {
      auto data = batch.data.to(device);
      auto target = batch.target.to(device);
      auto output = model->forward(data);
      auto loss = torch::nll_loss(output, target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      const auto correct = output.argmax(1).eq(target).sum().item<int64_t>();
      meter.add(loss.item<double>(), data.size(0));
      std::cout << correct << std::setprecision(4) << meter.item() << '\n';
    }
    train(model, *loader, optimizer, device, meter);
  }
}
