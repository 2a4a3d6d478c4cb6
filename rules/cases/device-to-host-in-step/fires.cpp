#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer) {
  std::vector<torch::Tensor> history;
  for (auto& batch : *loader) {
    auto output = model.forward(batch.data);
    auto loss = torch::mse_loss(output, batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    history.push_back(output.detach().cpu());  // expect: device-to-host-in-step
    history.push_back(loss.to(torch::kCPU));  // expect: device-to-host-in-step
    history.push_back(output.toBackend(torch::Backend::CPU));  // expect: device-to-host-in-step
  }
}

void train_raw(float* loss_d, int steps) {
  for (int step = 0; step < steps; ++step) {
    model_backward(loss_d);
    model_update(loss_d);
    float loss = 0;
    cudaMemcpy(&loss, loss_d, sizeof(float), cudaMemcpyDeviceToHost);  // expect: device-to-host-in-step
  }
}
int main() { train_raw(nullptr, 10); }

class Reducer {
 public:
  void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer) {
    for (auto& batch : *loader) {
      auto output = torch::mse_loss(model.forward(batch.data), batch.target);
      output.backward();
      if (OPS_ON_CPU && output.device().is_cuda()) {
        send(output.to(torch::kCPU));  // expect: device-to-host-in-step
      }
      optimizer.step();
    }
  }
};
