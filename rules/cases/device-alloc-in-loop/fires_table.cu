#include <cudnn.h>

// A table of the call's own: it is empty each time.
void run_layers(Net& net, int devices) {
  int made[16] = {0};
  cudnnHandle_t handles[16];
  for (int device = 0; device < devices; ++device) {
    if (!made[device]) {
      cudnnCreate(&handles[device]);  // expect: device-alloc-in-loop
      made[device] = 1;
    }
    net.forward(handles[device]);
  }
}

void train(Net& net, int max_iterations) {
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    run_layers(net, 2);
    net.backward();
    net.update();
  }
}
