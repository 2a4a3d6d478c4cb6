// Gradients averaged one by one through a process group.
#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

void average(c10d::ProcessGroupGloo& group, torch::nn::Module& model) {
  for (auto& p : model.parameters()) {
    std::vector<torch::Tensor> grads = {p.grad()};
    auto work = group.allreduce(grads);  // expect: many-small-collectives
    work->wait();
    p.grad().div_(group.getSize());
  }
}

void train(c10d::ProcessGroupGloo& group, torch::nn::Module& model, Loader& loader, torch::optim::SGD& optimizer) {
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(model.forward(batch.data), batch.target);
    loss.backward();
    average(group, model);
    for (auto& buffer : model.buffers()) {
      std::vector<torch::Tensor> one = {buffer};
      group.broadcast(one)->wait();  // expect: many-small-collectives
    }
    optimizer.step();
  }
}
