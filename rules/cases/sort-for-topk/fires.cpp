#include <torch/torch.h>

struct RouterImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto order = torch::argsort(x, -1, true).slice(-1, 0, 8);  // expect: sort-for-topk
    auto [values, indices] = torch::sort(x, -1, true);  // expect: sort-for-topk
    auto top = indices.slice(-1, 0, 4);
    auto best = std::get<0>(x.sort(-1, true)).narrow(-1, 0, 2);  // expect: sort-for-topk
    return top + order + best;
  }
};
