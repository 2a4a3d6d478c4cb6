#include <thrust/copy.h>

void train(Network& network, GpuMemory<float>& loss, float* losses, int steps) {
  std::vector<float> host_losses(1024);
  for (int step = 0; step < steps; ++step) {
    forward<<<32, 256>>>(network.data());
    backward<<<32, 256>>>(network.data());
    optimizer.step(network);
    thrust::copy_n(thrust::device_pointer_cast(losses), 1024, host_losses.begin());  // expect: device-to-host-in-step
    float total[16];
    loss.copy_to_host(total);  // expect: device-to-host-in-step
    thrust::copy(thrust::device_pointer_cast(losses), thrust::device_pointer_cast(losses + 8), host_losses.begin());  // expect: device-to-host-in-step
    note(total[0], host_losses[0]);
  }
}
