// A training program whose step is its own functions.
#include <cuda_runtime.h>

void forward_network(Network& net, State state) {
  for (int i = 0; i < net.n; ++i) {
    net.layers[i].run(state);
    refresh(net);
  }
}

void refresh(Network& net) {
  CHECK(cudaStreamSynchronize(net.stream));  // expect: explicit-sync
}

float train_network_datum(Network& net, State state) {
  forward_network(net, state);
  backward_network(net, state);
  update_network(net);
  return net.cost;
}

// Every so many steps the gradients go out: that is the step.
void exchange(Network& net, int t) {
  if (t % net.delay == 0) {
    cudaStreamSynchronize(0);  // expect: explicit-sync
    pushGradients(net.gradients);
  }
}

int main() {
  while (current_batch(net) < net.max_batches) {
    train_network_datum(net, state);
    exchange(net, current_batch(net));
  }
}
