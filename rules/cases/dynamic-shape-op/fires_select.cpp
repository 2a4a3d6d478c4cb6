#include <torch/torch.h>

// What is kept is as long as there are boxes above the threshold.
struct DetectorImpl : torch::nn::Module {
  std::vector<torch::Tensor> forward(torch::Tensor features) {
    auto scores = torch::sigmoid(classify->forward(features));
    auto keep = torch::nonzero(scores > 0.3);  // expect: dynamic-shape-op
    auto boxes = regress->forward(features);
    return {keep, boxes.masked_select(scores > 0.3)};  // expect: dynamic-shape-op
  }
  torch::nn::Linear classify{nullptr}, regress{nullptr};
};

// The loss leaves out padding.
void train(LanguageModel& model, Loader& loader, torch::optim::AdamW& optimizer) {
  for (auto& batch : *loader) {
    auto logits = model->forward(batch.data);
    auto losses = torch::nll_loss(logits, batch.target, {}, torch::Reduction::None);
    auto loss = losses.masked_select(batch.target != 0).mean();  // expect: dynamic-shape-op
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

// The function behind torch::unique() in C++.
struct PoolImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& points) {
    auto cells = points.floor().to(torch::kLong);
    return std::get<0>(torch::_unique2(cells, true, true));  // expect: dynamic-shape-op
  }
};
