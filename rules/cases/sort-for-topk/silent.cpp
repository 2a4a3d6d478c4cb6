#include <torch/torch.h>

struct RouterImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto [values, indices] = torch::topk(x, 8, -1);
    auto [ordered, where] = torch::sort(x, -1);
    auto all = torch::cumsum(ordered, -1);
    std::sort(names.begin(), names.end());
    return values + all + where;
  }
};
