#include <torch/torch.h>

struct AttentionImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor q, torch::Tensor k, torch::Tensor v) {
    return torch::scaled_dot_product_attention(q, k, v);
  }
};

struct HeadImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto logits = torch::matmul(x, weight.transpose(0, 1));
    return torch::softmax(logits, -1);
  }
};

struct GateImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto gate = torch::softmax(router(x), -1);
    return torch::matmul(gate, experts);
  }
};
