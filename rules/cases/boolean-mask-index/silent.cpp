#include <torch/torch.h>

struct MaskedLossImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor scores, torch::Tensor labels) {
    auto positive = labels > 0;
    auto kept = torch::where(positive, scores, torch::zeros_like(scores));
    kept.index_put_({torch::logical_not(positive)}, 0.0);  // one number: nothing is counted
    auto picked = scores.index({labels});                  // by numbers, not by a mask
    auto column = scores.index({torch::indexing::Slice(), 0});
    return (kept.sum() + picked.sum() + column.sum()) / positive.sum();
  }
};
TORCH_MODULE(MaskedLoss);

void report(torch::nn::Linear head, torch::optim::Adam& optimizer, std::vector<torch::Tensor> batches) {
  int step = 0;
  for (auto& batch : batches) {
    auto logits = head->forward(batch);
    auto loss = logits.mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (++step % 100 == 0) {
      auto wrong = logits.argmax(1) != 0;
      std::cout << logits.index({wrong}).size(0) << std::endl;
    }
  }
}

struct GatherHeadImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor features, torch::Tensor rows) {
    auto strong = (features.norm(2, 1) > 0.5).to(features.scalar_type());
    return (features.index({rows}) * strong.unsqueeze(1)).sum() / strong.sum();
  }
};
TORCH_MODULE(GatherHead);
