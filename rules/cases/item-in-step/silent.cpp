#include <torch/torch.h>

void train(torch::nn::Sequential model, torch::optim::Adam& optimizer) {
  int step = 0;
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(model->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    if (step++ % 100 == 0) {
      std::cout << loss.item<float>() << std::endl;
    }
  }
}

void train_clipped_by_value(torch::nn::Sequential model, torch::optim::Adam& optimizer) {
  for (auto& batch : *loader) {
    torch::nll_loss(model->forward(batch.data), batch.target).backward();
    torch::nn::utils::clip_grad_value_(model->parameters(), 1.0);
    optimizer.step();
  }
}

void train_on(Net& net, torch::Tensor data, torch::optim::Adam& optimizer) {
  for (int i = 0; i < 1000; ++i) {
    auto loss = net->forward(data).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (i % 100 == 0) std::cout << loss.item<double>() << std::endl;
  }
}
