#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer) {
  auto stream = c10::cuda::getCurrentCUDAStream();
  for (auto& batch : *loader) {
    auto loss = model.forward(batch.data).mean();
    loss.backward();
    torch::cuda::synchronize();  // expect: explicit-sync
    optimizer.step();
    stream.synchronize();  // expect: explicit-sync
    cudaDeviceSynchronize();  // expect: explicit-sync
  }
}
int main() { train(model, loader, optimizer); }
