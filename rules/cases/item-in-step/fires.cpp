#include <torch/torch.h>

void train(torch::nn::Sequential model, torch::optim::Adam& optimizer, torch::Device device) {
  double running = 0;
  for (auto& batch : *loader) {
    auto output = model->forward(batch.data);
    auto loss = torch::nll_loss(output, batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    running += loss.item<float>();  // expect: item-in-step
  }
}

template <typename Loader>
void train_on(torch::nn::Sequential model, Loader& loader, torch::optim::Adam& optimizer) {
  for (auto& batch : loader) {
    auto loss = torch::nll_loss(model->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    log(loss.template item<float>());  // expect: item-in-step
  }
}

void train_clipped(torch::nn::Sequential model, torch::optim::Adam& optimizer) {
  for (auto& batch : *loader) {
    torch::nll_loss(model->forward(batch.data), batch.target).backward();
    torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);  // expect: item-in-step
    optimizer.step();
  }
}

// A function of the program's own says by its name that it reads.
template <typename T>
T to_number(torch::Tensor x) {
  return x.item().to<T>();
}

void train_named(Net& net, Loader& loader, torch::optim::Adam& optimizer) {
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    std::cout << "loss " << to_number<float>(loss) << std::endl;  // expect: item-in-step
  }
}
