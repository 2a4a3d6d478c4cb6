#include <torch/torch.h>

torch::Tensor render(const torch::Tensor& view, const torch::Tensor& points) {
  auto inverse = torch::inverse(view);  // expect: checked-linalg
  return points - inverse.index({torch::indexing::Slice(), 3});
}

struct WhitenImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto covariance = x.t().mm(x) / x.size(0);
    auto factor = torch::linalg_cholesky(covariance);  // expect: checked-linalg
    return torch::linalg_solve(factor, x.t()).t();     // expect: checked-linalg
  }
};

torch::Tensor nuclear_norm(const torch::Tensor& image) {
  auto [u, s, v] = torch::linalg_svd(image, false, {});  // expect: checked-linalg
  return s.sum();
}

void train(Model& model, Loader& loader, torch::optim::Adam& optimizer, torch::Device device) {
  for (auto& batch : loader) {
    auto image = render(batch.view.to(device, true), model->points());
    auto loss = (image - batch.target.to(device, true)).square().mean() + nuclear_norm(image);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
