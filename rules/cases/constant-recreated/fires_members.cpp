#include <torch/torch.h>

class GptImpl : public torch::nn::Module {
 public:
  torch::nn::Embedding wte{nullptr}, wpe{nullptr};
  torch::Tensor forward(torch::Tensor ids) {
    auto pos = torch::arange(0, ids.size(1), ids.options()).unsqueeze(0);  // expect: constant-recreated
    auto half = torch::arange(16, torch::TensorOptions().device(ids.device()));
    auto table = torch::exp(torch::arange(16, ids.options()) * -0.5);      // expect: constant-recreated
    return wte->forward(ids) + wpe->forward(pos) + table.sum() + half.sum();
  }
};
TORCH_MODULE(Gpt);
