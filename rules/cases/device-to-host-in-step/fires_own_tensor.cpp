// An engine whose tensors are its own: what reads them back is a method of theirs.
#include <cuda_runtime.h>

#include "engine.hpp"

Tensor Tensor::cpu() const {
  Tensor copy(dims(), Device::CPU);
  cudaMemcpy(copy.data(), data(), bytes(), cudaMemcpyDeviceToHost);
  return copy;
}

void train(Network& network, const Tensor& input, const Tensor& targets) {
  for (int step = 0; step < 1000; ++step) {
    auto result = network.forward(input);
    auto loss = mse(result, targets);
    report(step, loss.cpu());  // expect: device-to-host-in-step
    loss.backward();
    optimizer.step();
  }
}
