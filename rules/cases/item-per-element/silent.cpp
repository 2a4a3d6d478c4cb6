#include <torch/torch.h>

struct PackImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x, std::vector<int64_t> lengths) {
    auto out = x;
    for (int64_t i = 0; i < x.size(0); ++i) {
      auto n = lengths[i];
      out = out.narrow(0, 0, n);
    }
    return out;
  }
};

std::vector<float> to_vector(torch::Tensor x) {
  auto host = x.contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}
