#include <torch/torch.h>

// What is read from a file has to cross, and what is made on the device does not.
struct PositionsImpl : torch::nn::Module {
  explicit PositionsImpl(const std::string& path) {
    torch::Tensor table = torch::zeros({512, 64});
    torch::load(table, path);
    table_ = register_buffer("table", table.to(torch::kCUDA));
  }
  torch::Tensor forward(const torch::Tensor& tokens) {
    auto rows = torch::arange(tokens.size(1), torch::dtype(torch::kLong).device(tokens.device()));
    auto dropped = torch::rand_like(table_).to(torch::kBFloat16);
    return table_.index_select(0, rows) + dropped.slice(0, 0, tokens.size(1));
  }
  torch::Tensor table_;
};

// Once for a run.
torch::Tensor class_weights(int64_t classes, torch::Device device) {
  auto weights = torch::ones({classes});
  weights[0] = 0.1;
  return weights.to(device);
}

void fit(Positions& model, Loader& loader, torch::optim::Adam& optimizer, torch::Device device) {
  const auto weights = class_weights(10, device);
  for (auto& batch : *loader) {
    auto noise = torch::randn({64, 64}, device);
    auto loss = ((model->forward(batch.data) + noise) * weights).mean();
    loss.backward();
    optimizer.step();
  }
}

// A constructor that takes a step's parts together makes its storage once.
class Collector {
 public:
  Collector(Policy& policy, torch::optim::Adam& optimizer, torch::Device device) {
    values_ = torch::zeros({128, 8}).to(device);
    policy.loss(values_).backward();
    optimizer.step();
  }

 private:
  torch::Tensor values_;
};
