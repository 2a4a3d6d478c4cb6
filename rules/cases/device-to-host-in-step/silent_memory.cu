#include <thrust/copy.h>

void train(Network& network, GpuMemory<float>& loss, float* losses, float* kept, int steps) {
  for (int step = 0; step < steps; ++step) {
    forward<<<32, 256>>>(network.data());
    backward<<<32, 256>>>(network.data());
    optimizer.step(network);
    thrust::copy_n(thrust::device_pointer_cast(losses), 1024, thrust::device_pointer_cast(kept));
    if (step % 100 == 0) {
      float total[16];
      loss.copy_to_host(total);
      note(total[0]);
    }
  }
}
