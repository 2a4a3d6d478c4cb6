#include <torch/torch.h>

void train(Net& net, torch::optim::SGD& optimizer, torch::Device device) {
  auto loader = torch::data::make_data_loader(
      Images("train"), torch::data::DataLoaderOptions().batch_size(64).workers(4));
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(net->forward(batch.data.to(device)), batch.target.to(device));
    loss.backward();
    optimizer.step();
  }
}

void pretrain(Net& net, torch::optim::SGD& optimizer, torch::Device device) {
  auto options = torch::data::DataLoaderOptions().batch_size(64).workers(2).enforce_ordering(false);
  auto loader = torch::data::make_data_loader(Images("crops"), options);
  for (auto& batch : *loader) {
    auto loss = net->reconstruct(batch.data.to(device));
    loss.backward();
    optimizer.step();
  }
}

void finetune(Net& net, torch::optim::SGD& optimizer, int threads) {
  torch::data::DataLoaderOptions options(32);
  options.workers(threads);
  auto loader = torch::data::make_data_loader(Images("labelled"), options);
  for (auto& batch : *loader) {
    auto loss = net->loss(batch);
    loss.backward();
    optimizer.step();
  }
}
