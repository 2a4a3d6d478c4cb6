#include <torch/torch.h>

// The whole order is used.
struct MedianImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto [sorted, where] = torch::sort(x, -1);
    auto middle = sorted.select(-1, x.size(-1) / 2);
    return (sorted - middle.unsqueeze(-1)).abs() * where;
  }
};

// Sequences by length, for packing.
torch::Tensor pack_forward(torch::Tensor x, torch::Tensor lengths) {
  auto order = torch::argsort(lengths, 0, /*descending=*/true);
  auto rows = x.index_select(0, order);
  return rows.cumsum(0);
}

// Names on the host.
void list_slowest(std::vector<Timing>& timings) {
  std::sort(timings.begin(), timings.end(), by_duration);
  for (size_t i = 0; i < 5; ++i) std::cout << timings[i].name << '\n';
}
