#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer, bool debug) {
  for (auto& batch : *loader) {
    auto loss = model.forward(batch.data).mean();
    loss.backward();
    optimizer.step();
    if (debug) {
      torch::cuda::synchronize();
    }
  }
  torch::cuda::synchronize();
}
int main() {
  cudaDeviceSynchronize();
  train(model, loader, optimizer, false);
}

struct Session {
  Session() { cudaDeviceSynchronize(); }
  ~Session() { cudaDeviceSynchronize(); }
};

void train_session(torch::nn::Linear net, torch::optim::Adam& optimizer, std::vector<torch::Tensor>& batches) {
  Session session;  // once, around all steps
  for (auto& batch : batches) {
    auto loss = net->forward(batch).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void train_checked(torch::nn::Linear net, torch::optim::Adam& optimizer, std::vector<torch::Tensor>& batches) {
  const bool drains = std::getenv("DRAIN_EACH_STEP") != nullptr;
  for (auto& batch : batches) {
    auto loss = net->forward(batch).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    const char* check = std::getenv("CHECK_EACH_STEP");
    if (check && check[0] == '1') cudaDeviceSynchronize();  // who looks for an error sets it
    if (drains) cudaDeviceSynchronize();
  }
}
