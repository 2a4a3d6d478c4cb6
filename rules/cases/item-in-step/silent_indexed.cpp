#include <torch/torch.h>

struct DetectorImpl : torch::nn::Module {
  torch::nn::Conv2d head{nullptr};
  std::vector<int> layers{1, 2, 3};
  torch::Tensor forward(torch::Tensor images, torch::Tensor targets) {
    auto out = head->forward(images);
    for (int i = 0; i < images.size(0); i++) out[i] = out[i] * 2;      // by a number
    auto outputs = out.split(1, 1);
    for (auto layer : layers) out = out + outputs[layer] + out[layer];  // numbers of a list
    auto label = targets.select(1, 1).to(torch::kLong);
    return out.index_select(0, label) + out.gather(1, label.unsqueeze(1)) + out.index({label});
  }
};
TORCH_MODULE(Detector);

int main() {
  DetectorImpl model;
  auto classes = torch::arange(80).to(torch::kCUDA);
  auto chosen = torch::argmax(torch::rand({80}, torch::kCUDA));
  std::cout << classes[chosen] << std::endl;  // once, before training
}
