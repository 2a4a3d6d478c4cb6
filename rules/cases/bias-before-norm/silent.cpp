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
