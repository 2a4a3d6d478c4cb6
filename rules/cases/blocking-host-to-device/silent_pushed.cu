#include <cuda_runtime.h>

void cuda_push_array(float* x_gpu, float* x, size_t n) {
  cudaMemcpy(x_gpu, x, sizeof(float) * n, cudaMemcpyHostToDevice);
}

layer make_connected_layer(int inputs, int outputs) {
  layer l = {0};
  l.weights_gpu = cuda_make_array(l.weights, inputs * outputs);
  cuda_push_array(l.weights_gpu, l.weights, inputs * outputs);
  return l;
}

void load_weights(network& net, FILE* file) {
  for (int i = 0; i < net.n; ++i) {
    fread(net.layers[i].weights, sizeof(float), net.layers[i].n, file);
    cuda_push_array(net.layers[i].weights_gpu, net.layers[i].weights, net.layers[i].n);
  }
}

void train(network& net, int count) {
  load_weights(net, stdin);
  for (int i = 0; i < count; ++i) {
    forward_network(net);
    backward_network(net);
    update_network(net);
  }
}
