// One flat buffer, and what every process is given once.
#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

void train(c10d::ProcessGroupGloo& group, torch::nn::Module& model, Loader& loader, torch::optim::SGD& optimizer) {
  for (auto& p : model.parameters()) {
    std::vector<torch::Tensor> one = {p};
    group.broadcast(one)->wait();
  }
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(model.forward(batch.data), batch.target);
    loss.backward();
    std::vector<torch::Tensor> flat = {torch::cat(gradients(model))};
    group.allreduce(flat)->wait();
    optimizer.step();
  }
}
