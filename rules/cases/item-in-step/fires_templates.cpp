// Methods of templates, written apart from the class they are of.
#include <torch/torch.h>

template <typename Encoder, typename Net>
class Renderer {
 public:
  torch::Tensor Render(torch::Tensor rays);
  Net net;
};

template <typename Encoder, typename Net>
torch::Tensor Renderer<Encoder, Net> :: Render(torch::Tensor rays) {
  auto colours = net->forward(rays);
  nearest = colours.min().item<float>();  // expect: item-in-step
  return colours;
}

template <typename Encoder, typename Net>
void fit(Renderer<Encoder, Net>& renderer, torch::optim::Adam& optimizer, int steps) {
  for (int i = 0; i < steps; i++) {
    auto loss = renderer.Render(next_rays()).mean();
    loss.backward();
    optimizer.step();
  }
}
