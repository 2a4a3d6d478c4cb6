#include <torch/torch.h>

struct SpectrogramImpl : torch::nn::Module {
  SpectrogramImpl() { window = register_buffer("window", torch::hann_window(1024)); }
  torch::Tensor forward(const torch::Tensor& wave) {
    if (!taper.defined()) taper = torch::hamming_window(1024, wave.options());
    return torch::stft(wave, 1024, 256, 1024, window * taper, true);
  }
  torch::Tensor window, taper;
};

int main() {
  auto window = torch::blackman_window(512);
  auto grid = torch::meshgrid({torch::arange(8), torch::arange(8)}, "ij");
}
