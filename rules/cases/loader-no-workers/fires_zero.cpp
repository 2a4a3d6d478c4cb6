#include <torch/torch.h>

void train(Net& net, torch::optim::SGD& optimizer, torch::Device device) {
  auto images = Images("train").map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(  // expect: loader-no-workers
      std::move(images), torch::data::DataLoaderOptions().batch_size(64).workers(0));
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(net->forward(batch.data.to(device)), batch.target.to(device));
    loss.backward();
    optimizer.step();
  }
}
