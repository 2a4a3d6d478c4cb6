#include <torch/torch.h>

void train(torch::nn::Linear net, torch::optim::Adam& optimizer, std::vector<std::vector<float>>& images) {
  for (auto& image : images) {
    auto pinned = torch::from_blob(image.data(), {1, 64}).pin_memory();
    auto loss = net->forward(pinned.to(torch::kCUDA, true)).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void finetune(torch::nn::Linear net, torch::optim::Adam& optimizer, std::vector<torch::Tensor>& batches,
              std::vector<float>& weights, torch::Device device) {
  auto table = torch::from_blob(weights.data(), {1, 64}).to(device, true);  // once
  for (auto& batch : batches) {
    auto loss = (net->forward(batch) + table).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

struct PointNetImpl : torch::nn::Module {
  torch::nn::Linear head{nullptr};
  torch::Tensor forward(torch::Tensor points) {
    auto made = torch::zeros({64}, points.options()).to(points.device(), true);  // there already
    return head->forward(points.to(torch::kFloat, true)) + made;                 // a type
  }
};
TORCH_MODULE(PointNet);
