// An engine whose tensors are its own: what reads them back is a method of theirs.
#include <cuda_runtime.h>

#include "engine.hpp"

Tensor Tensor::cpu() const {
  Tensor copy(dims(), Device::CPU);
  cudaMemcpy(copy.data(), data(), bytes(), cudaMemcpyDeviceToHost);
  return copy;
}

float* Tensor::to(Place place) {
  if (place == Place::host) cudaMemcpy(host_, device_, bytes(), cudaMemcpyDeviceToHost);  // expect: device-to-host-in-step
  return place == Place::host ? host_ : device_;
}

void train(Network& network, const Tensor& input, const Tensor& targets) {
  for (int step = 0; step < 1000; ++step) {
    auto result = network.forward(input);
    auto loss = mse(result, targets);
    report(step, loss.cpu());  // expect: device-to-host-in-step
    history[step] = result.to(Place::host)[0];  // expect: device-to-host-in-step
    loss.backward();
    optimizer.step();
  }
}
