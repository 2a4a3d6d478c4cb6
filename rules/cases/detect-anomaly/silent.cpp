#include <torch/torch.h>

int main(int argc, char** argv) {
  const bool debug = argc > 1;
  torch::autograd::AnomalyMode::set_enabled(debug);
  if (debug) torch::autograd::AnomalyMode::set_enabled(true);
  torch::autograd::AnomalyMode::set_enabled(false);
  train(model, loader);
}
