#include <torch/torch.h>

class GptImpl : public torch::nn::Module {
 public:
  torch::nn::Embedding wte{nullptr}, wpe{nullptr};
  torch::Tensor positions;
  GptImpl() { positions = register_buffer("positions", torch::arange(0, 1024, torch::kLong).unsqueeze(0)); }
  torch::Tensor forward(torch::Tensor ids) {
    return wte->forward(ids) + wpe->forward(positions.slice(1, 0, ids.size(1)));
  }
};
TORCH_MODULE(Gpt);
