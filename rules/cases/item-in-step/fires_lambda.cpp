// Reads in lambdas that the step calls by name.
#include <torch/torch.h>

void train(Net& net, torch::optim::Adam& optimizer, Loader& loader, torch::Device device) {
  double total = 0;
  auto accuracy = [](const torch::Tensor& logits, const torch::Tensor& y) {
    return (logits.argmax(1) == y).to(torch::kFloat).mean().item<float>();  // expect: item-in-step
  };
  const auto note = [&](const torch::Tensor& loss) {
    total += loss.item<double>();  // expect: item-in-step
  };
  std::function<void(torch::Tensor, torch::Tensor)> run = [&](torch::Tensor x, torch::Tensor y) {
    auto out = net->forward(x);
    auto loss = torch::cross_entropy_loss(out, y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    note(loss);
    const float hits = accuracy(out, y);
    const float norm = loss.item<float>();  // expect: item-in-step
  };
  for (auto& batch : *loader) run(batch.data.to(device), batch.target.to(device));
}
