#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer, torch::Device device) {
  for (auto& batch : *loader) {
    auto weight = torch::tensor({0.1f, 0.9f}, torch::kCUDA);  // expect: host-constant-to-device
    auto scale = torch::tensor(2.0f).to(device);  // expect: host-constant-to-device
    auto bias = torch::tensor({1.0f, 2.0f}, torch::TensorOptions().device(device));  // expect: host-constant-to-device
    auto loss = (model.forward(batch.data) * weight * scale + bias).mean();
    loss.backward();
    optimizer.step();
  }
}

torch::Tensor project(const torch::Tensor& points, const Camera& camera) {
  auto options = torch::TensorOptions().dtype(torch::kFloat32).device(points.device());
  auto center = torch::tensor({camera.x(), camera.y(), camera.z()}, options);  // expect: host-constant-to-device
  return points - center.unsqueeze(0);
}

void train_views(Model& model, Cameras& cameras, torch::optim::Adam& optimizer) {
  for (auto& camera : cameras) {
    auto loss = project(model->points(), camera).square().mean();
    loss.backward();
    optimizer.step();
  }
}
