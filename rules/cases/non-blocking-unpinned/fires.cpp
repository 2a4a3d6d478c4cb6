#include <torch/torch.h>

void train(torch::nn::Linear net, torch::optim::Adam& optimizer, std::vector<std::vector<float>>& images) {
  for (auto& image : images) {
    auto input = torch::from_blob(image.data(), {1, 64}).to(torch::kCUDA, true);  // expect: non-blocking-unpinned
    auto loss = net->forward(input).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void finetune(torch::nn::Linear net, torch::optim::Adam& optimizer, std::vector<std::vector<int64_t>>& labels,
              torch::Device device) {
  for (auto& label : labels) {
    auto target = torch::from_blob(label.data(), {1}, torch::kLong).to(device, /*non_blocking=*/true);  // expect: non-blocking-unpinned
    auto loss = net->forward(target).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

struct PointNetImpl : torch::nn::Module {
  torch::nn::Linear head{nullptr};
  torch::Tensor forward(std::vector<float> points) {
    auto rows = torch::from_blob(points.data(), {8, 8});
    rows = rows.to(torch::kCUDA, true);  // expect: non-blocking-unpinned
    return head->forward(rows);
  }
};
TORCH_MODULE(PointNet);
