#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::Adam& optimizer, torch::Device device) {
  for (auto& batch : *loader) {
    auto data = batch.data.to(device, /*non_blocking=*/true);
    auto loss = model.forward(data).mean();
    loss.backward();
    optimizer.step();
  }
}

void load_weights(float* w_d, const float* w, size_t n) {
  cudaMemcpy(w_d, w, n * sizeof(float), cudaMemcpyHostToDevice);
}
int main() {
  load_weights(nullptr, nullptr, 1);
  return 0;
}
