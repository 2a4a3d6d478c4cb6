#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer) {
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(model.forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    auto norm = torch::norm(loss);
    std::cout << "loss " << loss << std::endl;  // expect: tensor-format
    std::cerr << norm << '\n';  // expect: tensor-format
    std::cout << torch::mean(loss) << "\n";  // expect: tensor-format
  }
}
