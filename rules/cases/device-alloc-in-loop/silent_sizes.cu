// C: buffers that are made again where the size changed, which is noted behind them all.
#include <cuda_runtime.h>

void forward_network(Network* net, float* input, int m) {
  if (net->cached_m != m) {
    cudaFree(net->layers[0].input);
    cudaMalloc(&net->layers[0].input, m * net->layers[0].size * sizeof(float));
  }
  cudaMemcpy(net->layers[0].input, input, m * sizeof(float), cudaMemcpyDeviceToDevice);
  for (int i = 0; i < net->count; i++) {
    if (net->cached_m != m) {
      cudaFree(net->layers[i + 1].input);
      cudaMalloc(&net->layers[i + 1].input, m * net->layers[i + 1].size * sizeof(float));
    }
    multiply<<<10, 256>>>(net->layers[i + 1].input, net->layers[i].input, m);
  }
  if (net->cached_m != m) {
    net->cached_m = m;
  }
}

void train(Network* net, Loader* loader, int steps) {
  for (int step = 0; step < steps; ++step) {
    forward_network(net, next_batch(loader), loader->size);
    backward_network(net, loader->target);
    update_network(net, 0.1f);
  }
}
