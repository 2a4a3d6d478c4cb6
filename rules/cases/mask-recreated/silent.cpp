#include <torch/torch.h>

struct DecoderImpl : torch::nn::Module {
  DecoderImpl(int64_t n) {
    causal = register_buffer("causal", torch::triu(torch::ones({n, n}), 1));
  }
  torch::Tensor forward(torch::Tensor x) {
    if (!band.defined()) band = torch::ones({x.size(1), x.size(1)}, x.options()).tril(2);
    auto upper = torch::triu(x);
    return attend(x, causal.slice(0, 0, x.size(1)) + band) + upper.tril(1);
  }
  torch::Tensor causal, band;
};
