#include <torch/torch.h>

// Weights that are given back, and pooling with one learned query.
struct PoolImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x, torch::Tensor mask) {
    auto scores = query->forward(x).squeeze(-1).masked_fill(mask == 0, -1e9);
    auto share = torch::softmax(scores, -1).unsqueeze(-1);
    return (x * share).sum(1);
  }
  torch::nn::Linear query{nullptr};
};

// A contrastive loss multiplies and normalises, and there are no values.
torch::Tensor contrast_forward(torch::Tensor image, torch::Tensor text, double temperature) {
  auto logits = torch::matmul(image, text.transpose(0, 1)) / temperature;
  auto labels = torch::arange(logits.size(0), logits.options().dtype(torch::kLong));
  return torch::cross_entropy_loss(logits, labels) + torch::cross_entropy_loss(logits.t(), labels);
}

struct DecoderLayerImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto [out, weights] = attention->forward(x, x, x);
    auto hidden = torch::matmul(out, up.transpose(0, 1));
    return torch::matmul(torch::gelu(hidden), down.transpose(0, 1));
  }
  torch::nn::MultiheadAttention attention{nullptr};
  torch::Tensor up, down;
};
