#include <torch/torch.h>

struct PackImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x, torch::Tensor lengths) {
    auto out = x;
    for (int64_t i = 0; i < x.size(0); ++i) {
      auto n = lengths[i].item<int64_t>();  // expect: item-per-element
      out = out.narrow(0, 0, n);
    }
    return out;
  }
};
