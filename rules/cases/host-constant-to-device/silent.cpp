#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer, torch::Device device) {
  auto weight = torch::tensor({0.1f, 0.9f}, torch::kCUDA);
  for (auto& batch : *loader) {
    auto zero = torch::zeros({2}, device);
    auto half = torch::tensor({0.5f}).to(torch::kFloat16);
    auto loss = (model.forward(batch.data) * weight + zero).mean();
    loss.backward();
    optimizer.step();
  }
}

int main() {
  torch::Tensor x = torch::tensor(1.0, torch::requires_grad());
  auto y = x * x;
  y.backward();
}

std::vector<float> Search::priors(torch::Tensor logits, const std::vector<int>& legal) {
  auto mask =
      torch::tensor(mask_of(legal), logits.options());  // the search goes on with the host's values
  return values_of((logits + mask).softmax(0).cpu());
}

void Search::expand(std::vector<Node*>& leaves) {
  auto outputs = network->forward(states_of(leaves));
  for (size_t i = 0; i < leaves.size(); ++i) {
    leaves[i]->expand(priors(outputs[i], leaves[i]->legal()));
    Node::backpropagate(leaves[i], outputs[i]);
  }
}

struct Renderer : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    auto none = torch::tensor({}, torch::TensorOptions().device(torch::kCUDA));
    return render(x, none);
  }
};
