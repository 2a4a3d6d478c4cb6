#include <torch/torch.h>

// A taper for each batch, though all are of one length.
void train(Net& model, Loader& loader, torch::optim::Adam& optimizer) {
  for (auto& batch : *loader) {
    auto taper = torch::blackman_window(batch.data.size(-1), batch.data.options());  // expect: constant-recreated
    auto loss = torch::nll_loss(model->forward(batch.data * taper), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

torch::Tensor MelLossImpl::forward(torch::Tensor wave, torch::Tensor wanted) {
  auto total = torch::zeros({}, wave.options());
  for (int64_t n : {512, 1024, 2048}) {
    auto window = torch::hann_window(n, wave.options());  // expect: constant-recreated
    auto a = torch::stft(wave, n, n / 4, n, window, true).abs();
    auto b = torch::stft(wanted, n, n / 4, n, window, true).abs();
    total = total + torch::l1_loss(a, b);
  }
  return total;
}

torch::Tensor createWindow(int64_t size, int64_t channels);

// The window of SSIM, built by the program's own function for each image.
torch::Tensor SsimLossImpl::forward(torch::Tensor image, torch::Tensor wanted) {
  auto window = createWindow(11, image.size(1));  // expect: constant-recreated
  auto mean = torch::conv2d(image, window, {}, 1, 5);
  return 1 - (mean * torch::conv2d(wanted, window, {}, 1, 5)).mean();
}
