// An own framework that updates weight by weight, or layer by layer.
#include <cuda_runtime.h>

void adam_step(Net& net, float lr, int t) {
  for (auto& p : net.params) {
    adam_kernel<<<(p.size + 255) / 256, 256>>>(p.data, p.grad, p.m, p.v, lr, t, p.size);  // expect: per-tensor-optimizer-loop
  }
}

void train(Net& net, Loader& loader, int steps) {
  for (int step = 0; step < steps; ++step) {
    net.forward(loader.batch(step));
    net.backward();
    adam_step(net, 1e-3f, step + 1);
  }
}

void train_layers(Net& net, Loader& loader, int steps) {
  for (int step = 0; step < steps; ++step) {
    net.forward(loader.batch(step));
    net.backward();
    for (size_t i = 0; i < net.layers.size(); ++i) {
      net.layers[i]->update_weights(1e-3f);  // expect: per-tensor-optimizer-loop
    }
  }
}

void train_blocks(Net& net, Loader& loader, int steps) {
  for (int step = 0; step < steps; ++step) {
    net.forward(loader.batch(step));
    net.backward();
    for (int b = 0; b < net.blocks; ++b)
      sgd_update<<<net.grid(b), 256>>>(net.weights(b), net.gradients(b), 1e-3f);  // expect: per-tensor-optimizer-loop
  }
}
