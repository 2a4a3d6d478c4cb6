#include <torch/torch.h>

struct EncoderImpl : torch::nn::Module {
  EncoderImpl() { start = register_buffer("start", torch::zeros({1, 64}).to(torch::kFloat16)); }
  torch::Tensor forward(const torch::Tensor& tokens) {
    auto positions = torch::arange(tokens.size(1), tokens.options());
    auto noise = torch::randn({tokens.size(0), 64}, torch::TensorOptions().device(tokens.device()));
    auto half = noise.to(torch::kFloat16);
    return embed(tokens) + place(positions) + half + start;
  }
  torch::nn::Embedding embed{nullptr}, place{nullptr};
  torch::Tensor start;
};

int main() {
  auto mean = torch::zeros({3}).to(torch::kCUDA);
  train(model, loader, mean);
}
