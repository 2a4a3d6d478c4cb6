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

torch::nn::Sequential make_encoder() {
  return torch::nn::Sequential(torch::nn::Conv1d(torch::nn::Conv1dOptions(1, 16, 5)),  // expect: bias-before-norm
                               torch::nn::BatchNorm1d(16));
}

namespace nn = torch::nn;

nn::Sequential make_volume(int channels) {
  return nn::Sequential(nn::Conv3d(nn::Conv3dOptions(1, channels, 3).stride(2)),  // expect: bias-before-norm
                        nn::BatchNorm3d(channels), nn::ReLU());
}

struct BlockImpl : torch::nn::Module {
  BlockImpl(int channels) {
    conv = register_module("conv", torch::nn::Conv2d(  // expect: bias-before-norm
        torch::nn::Conv2dOptions(channels, channels, 3).padding(1)));
    bn = register_module("bn", torch::nn::BatchNorm2d(channels));
  }
  torch::Tensor forward(torch::Tensor x) { return torch::relu(bn(conv(x))); }
  torch::nn::Conv2d conv{nullptr};
  torch::nn::BatchNorm2d bn{nullptr};
};

struct TailImpl : torch::nn::Module {
  TailImpl(int channels) {
    conv = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, 8, 3)));  // expect: bias-before-norm
    bn = register_module("bn", torch::nn::BatchNorm2d(8));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = conv->forward(x);
    x = bn->forward(x);
    return x;
  }
  torch::Device device() { return conv->weight.device(); }
  torch::nn::Conv2d conv{nullptr};
  torch::nn::BatchNorm2d bn{nullptr};
};

// The class is declared in a header; its block begins with the norm of what comes in.
Residual::Residual(int channels) {
  conv1 = register_module("conv1", torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, channels, 3)));  // expect: bias-before-norm
  bn1 = register_module("bn1", torch::nn::BatchNorm2d(channels));
  conv2 = register_module("conv2", torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, channels, 3)));
}

torch::Tensor Residual::forward(torch::Tensor x) {
  auto out = conv1(x);
  out = conv2->forward(torch::relu(bn1(out)));
  return x + out;
}

struct Heads : torch::nn::Module {
  explicit Heads(int n) {
    torch::nn::Conv2dOptions options = torch::nn::Conv2dOptions(n, n, 1).stride(1);
    head_ = torch::nn::Sequential(torch::nn::Conv2d(options), torch::nn::BatchNorm2d(n));  // expect: bias-before-norm
  }
  void grow(int n) {
    tail_->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(n, n, 3)));  // expect: bias-before-norm
    tail_->push_back(torch::nn::BatchNorm2d(n));
  }
  torch::nn::Sequential head_{nullptr}, tail_;
};

struct Declared : torch::nn::Module {
  torch::nn::Sequential layer_{
      torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 32, 5)),  // expect: bias-before-norm
      torch::nn::BatchNorm2d(32), torch::nn::ReLU()};
};

struct Pointwise : torch::nn::Module {
  explicit Pointwise(int n) {
    this->conv = register_module("conv", torch::nn::Conv1d(torch::nn::Conv1dOptions(n, n, 1)));  // expect: bias-before-norm
    this->norm = register_module("norm", torch::nn::BatchNorm1d(n));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = this->conv(x);
    x = this->norm(x);
    return torch::relu(x);
  }
  torch::nn::Conv1d conv{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
};

// The members are made in front of the constructor's body.
struct Entry : torch::nn::Module {
  explicit Entry(int n)
      : conv1(torch::nn::Conv2dOptions(3, n, 7).stride(2).padding(3)),  // expect: bias-before-norm
        bn1(n),
        conv2(torch::nn::Conv2dOptions(n, n, 3).bias(false)),
        bn2(torch::nn::BatchNorm2dOptions(n)) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
  }
  torch::Tensor forward(torch::Tensor x) { return bn2(conv2(torch::relu(bn1(conv1(x))))); }
  torch::nn::Conv2d conv1, conv2;
  torch::nn::BatchNorm2d bn1, bn2;
};
