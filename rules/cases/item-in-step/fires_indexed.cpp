#include <torch/torch.h>

// The targets of a detector are put into its grid one by one.
std::pair<torch::Tensor, torch::Tensor> build_targets(torch::Tensor targets, torch::Tensor anchors, int grid,
                                                      torch::Device device) {
  torch::Tensor found = torch::zeros({targets.size(0), 3, grid, grid}).to(device);
  torch::Tensor tx = torch::zeros({targets.size(0), 3, grid, grid}).to(device);
  for (int i = 0; i < targets.size(0); i++) {
    torch::Tensor box = targets[i].slice(0, 2, 6) * grid;
    torch::Tensor b = targets[i].select(0, 0).to(torch::kLong);
    torch::Tensor column = box.select(0, 0).to(torch::kLong);
    torch::Tensor row = box.select(0, 1).to(torch::kLong);
    found[b][0][row][column] = 1;                               // expect: item-in-step
    tx[b][0][row][column] = box.select(0, 0).frac();            // expect: item-in-step
  }
  return {found, tx};
}

struct DetectorImpl : torch::nn::Module {
  torch::nn::Conv2d head{nullptr};
  torch::Tensor forward(torch::Tensor images, torch::Tensor targets) {
    auto out = head->forward(images);
    auto built = build_targets(targets, out, 13, out.device());
    auto weights = torch::ones({80}, out.options());
    auto label = targets[0].select(0, 1).to(torch::kLong);
    return (out * std::get<0>(built)).mean() * weights[label];  // expect: item-in-step
  }
};
TORCH_MODULE(Detector);
