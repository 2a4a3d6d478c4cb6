#include <torch/torch.h>

struct Gpt : torch::nn::Module {
  Gpt()
      : embed(torch::nn::EmbeddingOptions(50257, 768)),                           // expect: odd-dimension
        head(torch::nn::LinearOptions(768, 50257).bias(false)) {                  // expect: odd-dimension
    register_module("embed", embed);
    register_module("head", head);
  }
  torch::nn::Embedding embed;
  torch::nn::Linear head;
};

struct Encoder : torch::nn::Module {
  explicit Encoder(int64_t width) {
    tokens = register_module("tokens", torch::nn::Embedding(30522, width));       // expect: odd-dimension
    positions = register_module("positions", torch::nn::Embedding(512, width));
  }
  torch::nn::Embedding tokens{nullptr}, positions{nullptr};
};
