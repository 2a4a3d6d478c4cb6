// One kernel for all weights; and what no step runs.
#include <cuda_runtime.h>

void train(Net& net, Loader& loader, int steps) {
  for (int step = 0; step < steps; ++step) {
    net.forward(loader.batch(step));
    net.backward();
    adam_kernel<<<net.grid(), 256>>>(net.weights(), net.gradients(), net.m(), net.v(), 1e-3f, step);
  }
}

void train_chunks(Net& net, Loader& loader, int steps) {
  for (int step = 0; step < steps; ++step) {
    net.forward(loader.batch(step));
    net.backward();
    for (const Chunk& chunk : multi_tensor_chunks(net))
      adam_update<<<chunk.grid, 256>>>(chunk.tensors, 1e-3f, step);
  }
}

void warm_up(Net& net) {
  for (auto& layer : net.layers) layer->update_weights(0.0f);
}

int main() {
  Net net;
  warm_up(net);
  train(net, loader(), 1000);
}
