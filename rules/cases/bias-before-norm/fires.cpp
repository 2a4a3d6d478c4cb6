#include <torch/torch.h>

struct StemImpl : torch::nn::Module {
  StemImpl() {
    layers = register_module("layers", torch::nn::Sequential(
        torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 64, 3).padding(1)),  // expect: bias-before-norm
        torch::nn::BatchNorm2d(64),
        torch::nn::ReLU()));
  }
  torch::Tensor forward(torch::Tensor x) { return layers->forward(x); }
  torch::nn::Sequential layers{nullptr};
};
