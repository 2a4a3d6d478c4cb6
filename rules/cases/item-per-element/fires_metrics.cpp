#include <torch/torch.h>

// One copy for each image and each of two tensors.
void train(Net& model, Loader& loader, torch::optim::SGD& optimizer, Confusion& confusion) {
  for (auto& batch : *loader) {
    auto logits = model->forward(batch.data);
    auto loss = torch::nll_loss(logits, batch.target);
    loss.backward();
    optimizer.step();
    auto predicted = logits.argmax(1);
    for (int64_t i = 0; i < predicted.size(0); ++i) {
      const auto found = predicted[i].item<int64_t>();  // expect: item-per-element
      confusion.add(i, found);
    }
  }
}

// Box by box.
struct DetectorImpl : torch::nn::Module {
  std::vector<Box> forward(torch::Tensor features) {
    auto boxes = head(features);
    std::vector<Box> out;
    for (int64_t row = 0; row < boxes.size(0); row++) {
      Box box;
      box.x = boxes[row][0].item<float>();  // expect: item-per-element
      box.y = boxes[row][1].item().toFloat();  // expect: item-per-element
      out.push_back(box);
    }
    return out;
  }
};
