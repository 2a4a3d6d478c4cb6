#include <torch/torch.h>

struct HeadImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor scores) {
    auto rows = torch::nonzero(scores > 0);  // expect: dynamic-shape-op
    auto kept = scores.masked_select(scores > 0.5);  // expect: dynamic-shape-op
    auto where = (scores > 0.9).nonzero();  // expect: dynamic-shape-op
    return rows.sum() + kept.sum() + where.sum();
  }
};

struct Sampler {
  torch::Tensor operator()(torch::Tensor labels) {
    return torch::nonzero(labels >= 1).squeeze(1);  // expect: dynamic-shape-op
  }
};

struct SampledImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor scores, torch::Tensor labels) {
    return scores.index_select(0, sampler_(labels));
  }
  Sampler sampler_;
};
