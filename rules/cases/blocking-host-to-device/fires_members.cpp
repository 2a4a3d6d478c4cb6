#include <torch/torch.h>

class FieldImpl : public torch::nn::Module {
 public:
  torch::nn::Linear layer{nullptr};
  torch::Device device() { return layer->weight.device(); }
  torch::Tensor forward(torch::Tensor origins) {
    const torch::Device dev = device();
    origins = origins.to(dev);  // expect: blocking-host-to-device
    return layer->forward(origins);
  }
};
TORCH_MODULE(Field);

void train(Field field, torch::optim::Adam& optimizer, Rays& rays, int steps) {
  for (int step = 0; step < steps; ++step) {
    torch::Tensor colors = rays.next();
    colors = colors.to(field->device());  // expect: blocking-host-to-device
    auto counts = torch::zeros({64}, torch::kCPU);
    auto kept = torch::empty({64}, torch::kCUDA);
    kept.copy_(counts);  // expect: blocking-host-to-device
    auto loss = (field->forward(rays.origins()) - colors).pow(2).mean() + kept.sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
