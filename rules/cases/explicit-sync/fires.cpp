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

struct Stopwatch {
  Stopwatch() { cudaDeviceSynchronize(); }   // expect: explicit-sync
  ~Stopwatch() { cudaDeviceSynchronize(); }  // expect: explicit-sync
};

void train_timed(torch::nn::Linear net, torch::optim::Adam& optimizer, std::vector<torch::Tensor>& batches) {
  for (auto& batch : batches) {
    Stopwatch watch;
    auto loss = net->forward(batch).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
