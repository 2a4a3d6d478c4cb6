#include <torch/torch.h>

struct SpectrogramImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& wave) {
    auto window = torch::hann_window(1024, wave.options());  // expect: constant-recreated
    return torch::stft(wave, 1024, 256, 1024, window, true);
  }
};

struct GridImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) {
    auto grid = torch::meshgrid({torch::arange(x.size(2), x.options()), torch::arange(x.size(3), x.options())}, "ij");  // expect: constant-recreated
    auto criterion = torch::hamming_window(256, x.options());  // expect: constant-recreated
    return x + grid[0] + criterion.sum();
  }
};
