#include <torch/torch.h>

void train(torch::nn::Sequential& model, Loader& loader, torch::optim::SGD& optimizer) {
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(model->forward(batch.data), batch.target);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    std::vector<torch::Tensor> norms;
    for (auto& p : model->parameters()) norms.push_back(p.grad().norm());
    auto total = torch::stack(norms).norm();
    optimizer.step();
    if (++step % 100 == 0) {
      for (auto& p : model->parameters()) std::printf("%f\n", p.grad().norm().item<float>());
    }
  }
}

void describe(torch::nn::Sequential& model) {
  for (auto& p : model->parameters()) count += p.numel();
}
