// Tests beside the code: what they read is their result.
#include <torch/torch.h>

torch::Tensor train_step(torch::optim::Adam& optimizer, torch::Tensor x) {
  auto loss = torch::mse_loss(x, torch::zeros_like(x));
  loss.backward();
  optimizer.step();
  return loss;
}

TEST_CASE("training lowers the loss") {
  SUBCASE("step by step") {
    for (int step = 0; step < 5; ++step) {
      auto loss = model->forward(x);
      loss.backward();
      CHECK(loss.item().toFloat() < 1);
    }
  }
}

TEST(Training, LowersTheLoss) {
  for (int step = 0; step < 5; ++step) {
    auto loss = model->forward(x);
    loss.backward();
    EXPECT_LT(loss.item<float>(), 1);
  }
}

namespace trainer {
TEST_CASE("the loss of each sample is low") {
  for (int step = 0; step < 5; ++step) {
    auto loss = model->forward(x);
    loss.backward();
    CHECK(loss.item<float>() < 1);
  }
}
}  // namespace trainer
