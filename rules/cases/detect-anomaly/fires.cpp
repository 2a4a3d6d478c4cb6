#include <torch/torch.h>

int main() {
  torch::autograd::AnomalyMode::set_enabled(true);  // expect: detect-anomaly
  train(model, loader);
}
