#include <torch/torch.h>

struct EncoderImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& tokens) {
    auto positions = torch::arange(tokens.size(1), torch::kLong).to(tokens.device());  // expect: create-then-move
    auto noise = torch::randn({tokens.size(0), 64}).cuda();  // expect: create-then-move
    return embed(tokens) + place(positions) + noise;
  }
  torch::nn::Embedding embed{nullptr}, place{nullptr};
};

void train(EncoderImpl& model, Loader& loader, torch::optim::Adam& optimizer, torch::Device device) {
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto weights = torch::ones({batch.data.size(0)}).to(device);  // expect: create-then-move
    auto loss = (model.forward(batch.data) * weights).mean();
    loss.backward();
    optimizer.step();
  }
}

void train_discriminator(Net& net, Loader& loader, torch::optim::Adam& optimizer, torch::Device device) {
  for (auto& batch : *loader) {
    auto real = torch::full({batch.data.size(0)}, 1.0, torch::TensorOptions().dtype(torch::kFloat)).to(device);  // expect: create-then-move
    auto loss = torch::binary_cross_entropy(net->forward(batch.data), real);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

struct PaddedImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) {
    auto edge = torch::cat({torch::ones({4, 4}), torch::zeros({4, 4})}).to(x.device());  // expect: create-then-move
    return x + edge;
  }
};
