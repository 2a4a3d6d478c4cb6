#include <torch/torch.h>

struct DecoderImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    const auto n = x.size(1);
    auto causal = torch::triu(torch::ones({n, n}, x.options()), 1);  // expect: mask-recreated
    auto band = torch::ones({n, n}, x.options()).tril(2);  // expect: mask-recreated
    auto filled = torch::full({n, n}, -1e9, x.options()).triu(1);  // expect: mask-recreated
    return attend(x, causal + band + filled);
  }
};
