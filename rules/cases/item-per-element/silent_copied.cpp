#include <torch/torch.h>

// One copy of all, then the host's own memory.
void fit(Net& model, Loader& loader, torch::optim::SGD& optimizer, Confusion& confusion) {
  for (auto& batch : *loader) {
    auto logits = model->forward(batch.data);
    torch::nll_loss(logits, batch.target).backward();
    optimizer.step();
    auto predicted = logits.argmax(1).to(torch::kCPU);
    auto rows = predicted.accessor<int64_t, 1>();
    for (int64_t i = 0; i < predicted.size(0); ++i) confusion.add(i, rows[i]);
  }
}

// Lengths that the host was given.
struct PadImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x, const std::vector<Entry>& entries) {
    std::vector<torch::Tensor> rows;
    for (size_t i = 0; i < entries.size(); ++i) {
      rows.push_back(x[i].narrow(0, 0, entries[i].length));
    }
    return torch::cat(rows);
  }
};

void print_classes(const torch::Tensor& probabilities) {
  auto host = probabilities.cpu();
  for (int64_t i = 0; i < host.numel(); ++i) {
    std::printf("%ld %.3f\n", i, host[i].item<float>());
  }
}
