#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::Adam& optimizer, torch::Device device) {
  for (auto& batch : *loader) {
    auto data = batch.data.to(device);  // expect: blocking-host-to-device
    auto target = batch.target.to(device);  // expect: blocking-host-to-device
    auto loss = torch::nll_loss(model.forward(data), target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void train_raw(float* x_d, const float* x, size_t n, int steps) {
  for (int step = 0; step < steps; ++step) {
    cudaMemcpy(x_d, x + step * n, n * sizeof(float), cudaMemcpyHostToDevice);  // expect: blocking-host-to-device
    model_backward(x_d);
    model_update(x_d);
  }
}
int main() { train_raw(nullptr, nullptr, 1, 10); }

void train_on_files(torch::nn::Sequential model, torch::optim::Adam& optimizer,
                    torch::Device device) {
  auto files = torch::data::datasets::MNIST("data").map(torch::data::transforms::Stack<>());
  auto train_loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(files), torch::data::DataLoaderOptions().batch_size(64));
  for (auto& batch : *train_loader) {
    auto data = batch.data.to(device);  // expect: blocking-host-to-device
    auto target = batch.target;
    target = target.to(torch::kLong).to(device);  // expect: blocking-host-to-device
    auto loss = torch::nll_loss(model->forward(data), target);
    loss.backward();
    optimizer.step();
  }
}


void train_on_views(Splats& model, ViewLoader& train_loader, torch::optim::Adam& optimizer) {
  for (auto& batch : *train_loader) {
    auto view = batch[0].data;
    torch::Tensor image = std::move(view.image).to(torch::kCUDA);  // expect: blocking-host-to-device
    auto loss = torch::l1_loss(model.render(view.camera), image);
    loss.backward();
    optimizer.step();
  }
}
