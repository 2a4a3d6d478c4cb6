#include <torch/torch.h>

struct CameraImpl : torch::nn::Module {
  explicit CameraImpl(torch::Tensor view) : inverse_(torch::inverse(view)) {}

  torch::Tensor forward(torch::Tensor points) { return points.matmul(inverse_); }

  torch::Tensor inverse_;
};

struct RotateImpl : torch::nn::Module {
  // A rotation's inverse is its transpose, and inv_ex checks nothing on the host.
  torch::Tensor forward(torch::Tensor points, torch::Tensor rotation, torch::Tensor view) {
    auto [inverse, info] = torch::linalg_inv_ex(view);
    return points.matmul(rotation.t()).matmul(inverse);
  }
};

double condition(const torch::Tensor& weights) {
  torch::NoGradGuard no_grad;
  return torch::linalg_svd(weights, false).max().item<double>();
}

void train(Model& model, Loader& loader, torch::optim::Adam& optimizer) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (auto& batch : loader) {
      auto loss = model->forward(batch.data).mean();
      loss.backward();
      optimizer.step();
      if (step++ % 1000 == 0) std::cout << torch::inverse(model->projection()) << std::endl;
    }
    std::cout << condition(model->weights()) << std::endl;
  }
}
