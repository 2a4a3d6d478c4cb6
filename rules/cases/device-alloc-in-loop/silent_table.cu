#include <cudnn.h>

// Made once for each device, as a table of the program says.
static int made[16] = {0};
static cudnnHandle_t handles[16];

cudnnHandle_t handle_of(int device) {
  if (!made[device]) {
    cudnnCreate(&handles[device]);
    made[device] = 1;
  }
  return handles[device];
}

void train(Net& net, int max_iterations) {
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    net.forward(handle_of(0));
    net.backward(handle_of(0));
    net.update(handle_of(0));
  }
}
