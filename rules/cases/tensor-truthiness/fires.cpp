#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer) {
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(model.forward(batch.data), batch.target);
    if (torch::isnan(loss).any()) {  // expect: tensor-truthiness
      continue;
    }
    loss.backward();
    auto worst = torch::max(loss);
    while (worst > 10) {  // expect: tensor-truthiness
      worst = worst / 2;
    }
    bool same = torch::equal(loss, worst) ? true : false;  // expect: tensor-truthiness
    optimizer.step();
  }
}
