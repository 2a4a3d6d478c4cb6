#include <torch/torch.h>

struct CausalSelfAttentionImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    const int64_t t = x.size(1);
    auto scores = torch::matmul(query->forward(x), key->forward(x).transpose(-2, -1));
    auto mask = torch::tril(torch::ones({t, t}, x.device()));  // expect: mask-recreated
    return torch::softmax(scores.masked_fill(mask == 0, -1e9), -1);
  }
  torch::nn::Linear query{nullptr}, key{nullptr};
};

// The target's mask is the same for each batch.
void train(Transformer& model, Loader& loader, torch::optim::Adam& optimizer) {
  for (auto& batch : *loader) {
    const auto n = batch.target.size(1);
    auto tgt_mask = torch::full({n, n}, -INFINITY, batch.data.options()).triu(1);  // expect: mask-recreated
    auto loss = torch::cross_entropy_loss(model->forward(batch.data, batch.target, tgt_mask), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
