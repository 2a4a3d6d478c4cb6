#include <torch/torch.h>

void train(Net& net, torch::optim::SGD& optimizer, torch::Device device) {
  auto images = Images("train").map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(  // expect: loader-no-workers
      std::move(images), 64);
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(net->forward(batch.data.to(device)), batch.target.to(device));
    loss.backward();
    optimizer.step();
  }
}

void pretrain(Net& net, torch::optim::SGD& optimizer, torch::Device device) {
  auto options = torch::data::DataLoaderOptions().batch_size(64).drop_last(true);
  auto loader = torch::data::make_data_loader(Images("crops"), options);  // expect: loader-no-workers
  for (auto& batch : *loader) {
    auto loss = net->reconstruct(batch.data.to(device));
    loss.backward();
    optimizer.step();
  }
}

void finetune(Net& net, torch::optim::SGD& optimizer, torch::Device device) {
  auto loader = torch::data::make_data_loader(Images("labelled"), torch::data::DataLoaderOptions(32));  // expect: loader-no-workers
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(net->forward(batch.data.to(device)), batch.target.to(device));
    loss.backward();
    optimizer.step();
  }
}
