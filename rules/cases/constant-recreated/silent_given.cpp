#include <torch/torch.h>

// Built when the first wave shows how long it has to be.
struct PhaseVocoderImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& wave) {
    if (!window_.defined()) {
      window_ = torch::hann_window(wave.size(-1), wave.options());
    }
    return wave * window_;
  }
  torch::Tensor window_;
};

// The caller keeps it.
torch::Tensor smooth(const torch::Tensor& signal, const torch::Tensor& window) {
  auto kernel = window / window.sum();
  return torch::conv1d(signal, kernel.view({1, 1, -1}));
}

std::vector<torch::Tensor> make_filters(int64_t n) {
  std::vector<torch::Tensor> out;
  for (int64_t i = 1; i <= n; ++i) out.push_back(torch::kaiser_window(64 * i));
  return out;
}
