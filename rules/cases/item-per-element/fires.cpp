#include <torch/torch.h>

struct PackImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x, torch::Tensor lengths) {
    auto out = x;
    for (int64_t i = 0; i < x.size(0); ++i) {
      auto n = lengths[i].item<int64_t>();  // expect: item-per-element
      out = out.narrow(0, 0, n);
    }
    return out;
  }
};

float area(const at::Tensor& boxes) {
  float total = 0;
  for (int i = 0; i < boxes.size(0); ++i) {
    total += boxes.index({i, 2}).item<float>();  // expect: item-per-element
  }
  return total;
}

at::Tensor weigh_forward(const at::Tensor& x, const at::Tensor& boxes) { return x * area(boxes); }

void follow_chain(const at::Tensor& next, const at::Tensor& cost, at::Tensor out) {
  int i = 0;
  while (i < next.size(0)) {
    auto k = next[i].item<int>();  // expect: item-per-element
    out[i] = cost[k];
    i = k;
  }
}

at::Tensor chain_forward(const at::Tensor& next, const at::Tensor& cost) {
  auto out = at::zeros_like(cost);
  follow_chain(next, cost, out);
  return out;
}
