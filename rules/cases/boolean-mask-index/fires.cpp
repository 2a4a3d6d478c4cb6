#include <torch/torch.h>

struct DetectionLossImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor scores, torch::Tensor labels) {
    auto positive = labels > 0;
    auto kept = scores.index({positive});  // expect: boolean-mask-index
    auto negative = torch::sigmoid(scores) < 0.1;
    return kept.sum() + scores.index({negative, 0}).mean();  // expect: boolean-mask-index
  }
};
TORCH_MODULE(DetectionLoss);

void train(torch::nn::Linear head, torch::optim::Adam& optimizer, std::vector<torch::Tensor> batches) {
  for (auto& batch : batches) {
    auto logits = head->forward(batch);
    auto wrong = logits.argmax(1) != 0;
    auto loss = torch::relu(logits).index({wrong}).mean();  // expect: boolean-mask-index
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

struct MaskedHeadImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor features) {
    auto strong = features.norm(2, 1) > 0.5;
    return features.index({strong}).mean();  // expect: boolean-mask-index
  }
};
TORCH_MODULE(MaskedHead);

struct Assigner : torch::nn::Module {
  torch::Tensor forward(torch::Tensor overlaps) {
    auto best = std::get<1>(overlaps.max(1));
    auto mask = overlaps.sum(1) > 0;
    return best.index({mask});  // expect: boolean-mask-index
  }
};
