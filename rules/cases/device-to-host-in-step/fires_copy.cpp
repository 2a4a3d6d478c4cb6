// Copies into tensors of the host.
#include <torch/torch.h>

void train(Net& net, torch::optim::Adam& optimizer, Loader& loader, torch::Device device) {
  auto kept = torch::empty({1}, torch::TensorOptions().pinned_memory(true));
  for (auto& batch : *loader) {
    auto loss = net->forward(batch.data.to(device)).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    kept.copy_(loss.detach());  // expect: device-to-host-in-step
  }
}
