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
