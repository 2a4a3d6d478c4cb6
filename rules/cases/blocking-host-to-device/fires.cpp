#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::Adam& optimizer, torch::Device device) {
  for (auto& batch : *loader) {
    auto data = batch.data.to(device);  // expect: blocking-host-to-device
    auto target = batch.target.to(device);  // expect: blocking-host-to-device
    auto loss = torch::nll_loss(model.forward(data), target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void train_raw(float* x_d, const float* x, size_t n, int steps) {
  for (int step = 0; step < steps; ++step) {
    cudaMemcpy(x_d, x + step * n, n * sizeof(float), cudaMemcpyHostToDevice);  // expect: blocking-host-to-device
    model_backward(x_d);
    model_update(x_d);
  }
}
int main() { train_raw(nullptr, nullptr, 1, 10); }
