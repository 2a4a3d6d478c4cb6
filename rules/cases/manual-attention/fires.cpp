#include <torch/torch.h>

namespace F = torch::nn::functional;

struct AttentionImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto q = query(x), k = key(x), v = value(x);
    auto scores = torch::matmul(q, k.transpose(-2, -1)) / std::sqrt(64.0);
    auto weights = torch::softmax(scores, -1);  // expect: manual-attention
    return torch::matmul(weights, v);
  }
};

struct MaskedAttentionImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor q, torch::Tensor k, torch::Tensor v, torch::Tensor mask) {
    auto scores = q.matmul(k.transpose(-2, -1)) * scale;
    scores = scores.masked_fill(mask == 0, -1e9);
    auto p = scores.softmax(-1);  // expect: manual-attention
    return p.matmul(v);
  }
};

struct BatchedAttentionImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor q, torch::Tensor k, torch::Tensor v) {
    auto scores = torch::bmm(q, k.transpose(1, 2));
    return torch::bmm(torch::softmax(scores, 2), v);  // expect: manual-attention
  }
};

struct HeadImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto q = query(x), k = key(x), v = value(x);
    torch::Tensor w = q.matmul(k.transpose(-2, -1));
    w = w / sqrt(k.size(-1));
    w = F::softmax(w, F::SoftmaxFuncOptions(-1));  // expect: manual-attention
    w = drop->forward(w);
    return w.matmul(v);
  }
};
