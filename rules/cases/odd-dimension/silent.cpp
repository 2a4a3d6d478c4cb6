#include <torch/torch.h>

struct Gpt : torch::nn::Module {
  Gpt(int64_t vocabulary, int64_t width)
      : embed(torch::nn::EmbeddingOptions(vocabulary, width)),
        head(torch::nn::LinearOptions(width, vocabulary).bias(false)) {
    register_module("embed", embed);
    register_module("head", head);
  }
  torch::nn::Embedding embed;
  torch::nn::Linear head;
};

struct Padded : torch::nn::Module {
  Padded() {
    embed = register_module("embed", torch::nn::Embedding(50304, 768));
    classes = register_module("classes", torch::nn::Linear(768, 10));
  }
  torch::nn::Embedding embed{nullptr};
  torch::nn::Linear classes{nullptr};
};

torch::nn::Linear make_head(const std::vector<std::string>& words, int64_t width) {
  const int64_t padded = (static_cast<int64_t>(words.size()) + 63) / 64 * 64;
  return torch::nn::Linear(torch::nn::LinearOptions(width, padded).bias(false));
}
