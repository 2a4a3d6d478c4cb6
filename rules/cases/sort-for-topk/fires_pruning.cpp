#include <torch/torch.h>

// The hardest pixels are trained on.
struct HardMiningLossImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor logits, torch::Tensor target) {
    auto losses = torch::cross_entropy_loss(logits, target, {}, torch::Reduction::None).view(-1);
    auto sorted = std::get<0>(torch::sort(losses, 0, /*descending=*/true));  // expect: sort-for-topk
    return sorted.slice(0, 0, 4096).mean();
  }
};

void train(Retriever& model, Loader& loader, torch::optim::Adam& optimizer) {
  for (auto& batch : *loader) {
    auto scores = torch::matmul(model->forward(batch.data), batch.target.t());
    auto nearest = scores.argsort(-1, true).narrow(-1, 0, 5);  // expect: sort-for-topk
    auto loss = scores.gather(1, nearest).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
