#include <torch/torch.h>

// Text of what lies on the host.
void fit(Net& model, Loader& loader, torch::optim::SGD& optimizer) {
  double seconds = 0;
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(model.forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    seconds += batch.seconds;
    std::cout << "\rseen " << batch.data.sizes() << " in " << seconds << std::flush;
    if (!loss.defined()) std::cerr << "no loss after " << seconds << std::endl;
  }
}

void describe(const torch::nn::Module& model) {
  for (const auto& p : model.named_parameters()) {
    std::cout << p.key() << ' ' << p.value().sizes() << '\n';
  }
}
