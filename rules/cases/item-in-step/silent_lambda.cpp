// Reads in lambdas that run at an interval, or behind the loop.
#include <torch/torch.h>

void train(Net& net, torch::optim::Adam& optimizer, Loader& loader, torch::Device device) {
  auto show = [](const torch::Tensor& loss) {
    std::cout << loss.item<float>() << "\n";
  };
  auto summary = [&](const torch::Tensor& total) {
    return total.item<double>();
  };
  auto total = torch::zeros({1}, device);
  int step = 0;
  for (auto& batch : *loader) {
    auto loss = net->forward(batch.data.to(device)).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    total += loss.detach();
    if (step++ % 100 == 0) show(loss);
  }
  std::cout << summary(total) << "\n";
}
