#include <torch/torch.h>

struct StemImpl : torch::nn::Module {
  explicit StemImpl(const torch::nn::Conv2dOptions& options) {
    layers = register_module("layers", torch::nn::Sequential(
        torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 64, 3).padding(1).bias(false)),
        torch::nn::BatchNorm2d(64),
        torch::nn::Conv2d(options),  // which may say so
        torch::nn::BatchNorm2d(64),
        torch::nn::Conv2d(torch::nn::Conv2dOptions(64, 64, 3)),
        torch::nn::ReLU()));
  }
  torch::Tensor forward(torch::Tensor x) { return layers->forward(x); }
  torch::nn::Sequential layers{nullptr};
};

torch::nn::Sequential make_encoder(bool biased) {
  return torch::nn::Sequential(torch::nn::Conv1d(torch::nn::Conv1dOptions(1, 16, 5).bias(biased)),
                               torch::nn::BatchNorm1d(16));
}

namespace nn = torch::nn;

nn::Sequential make_volume(int channels) {
  return nn::Sequential(nn::Conv3d(nn::Conv3dOptions(1, channels, 3)),
                        nn::GroupNorm(8, channels), nn::ReLU());
}

struct BlockImpl : torch::nn::Module {
  BlockImpl(int channels) {
    conv1 = register_module("conv1", torch::nn::Conv2d(
        torch::nn::Conv2dOptions(channels, channels, 3).padding(1).bias(false)));
    bn1 = register_module("bn1", torch::nn::BatchNorm2d(channels));
    conv2 = register_module("conv2", torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, 8, 3)));
    bn2 = register_module("bn2", torch::nn::BatchNorm2d(8));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(bn1(conv1(x)));
    auto raw = conv2->forward(x);
    return raw + bn2->forward(torch::relu(raw));
  }
  torch::nn::Conv2d conv1{nullptr}, conv2{nullptr};
  torch::nn::BatchNorm2d bn1{nullptr}, bn2{nullptr};
};

struct Heads : torch::nn::Module {
  explicit Heads(int n) {
    torch::nn::Conv2dOptions options = torch::nn::Conv2dOptions(n, n, 1).bias(false);
    head_ = torch::nn::Sequential(torch::nn::Conv2d(options), torch::nn::BatchNorm2d(n));
    tail_->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(n, n, 3)));
    tail_->push_back(torch::nn::ReLU());
  }
  torch::nn::Sequential head_{nullptr}, tail_;
};

struct Layered : torch::nn::Module {
  explicit Layered(int n) : conv1(torch::nn::Conv2dOptions(3, n, 7)), norm1(torch::nn::LayerNormOptions({n})) {}
  torch::Tensor forward(torch::Tensor x) { return norm1(this->conv1(x)); }
  torch::nn::Conv2d conv1;
  torch::nn::LayerNorm norm1;
};
