// Made with options that a function is handed: of a tensor, wherever it is.
#include <torch/torch.h>

struct Ssim : torch::nn::Module {
  torch::Tensor window(int size, const at::TensorOptions& opts) {
    auto x = torch::arange(size, opts);
    return torch::exp(-x * x);
  }
  torch::Tensor forward(torch::Tensor image, const torch::TensorOptions& opts) {
    auto made = torch::ones({11}, opts);
    made = made.to(image.device());
    return image * window(11, image.options()).to(image.device()) * made;
  }
};
