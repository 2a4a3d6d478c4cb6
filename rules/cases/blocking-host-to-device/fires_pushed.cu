#include <cuda_runtime.h>

void cuda_push_array(float* x_gpu, float* x, size_t n) {
  size_t size = sizeof(float) * n;
  cudaError_t status = cudaMemcpy(x_gpu, x, size, cudaMemcpyHostToDevice);
  check_error(status);
}

void copyToDevice(float* to, const float* from, int n) {
  cudaMemcpy(to, from, n * sizeof(float), cudaMemcpyHostToDevice);
}

void synchronizeHToD(float* to, const float* from, int n) {
  cudaMemcpy(to, from, n * sizeof(float), cudaMemcpyHostToDevice);
}

__global__ void drop(float* x, const float* rand, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && rand[i] < 0.5f) x[i] = 0;
}

void forward_dropout_layer_gpu(layer l, network_state state) {
  for (int i = 0; i < l.inputs; ++i) l.rand[i] = rand_uniform();
  cuda_push_array(l.rand_gpu, l.rand, l.inputs);  // expect: blocking-host-to-device
  drop<<<grid(l.inputs), 256>>>(state.input, l.rand_gpu, l.inputs);
}

void train(network& net, float** batches, int count) {
  for (int i = 0; i < count; ++i) {
    copyToDevice(net.input_gpu, batches[i], net.inputs);  // expect: blocking-host-to-device
    synchronizeHToD(net.rates_gpu, net.rates, net.inputs);  // expect: blocking-host-to-device
    forward_dropout_layer_gpu(net.layers[0], net.state);
    backward_network(net);
    update_network(net);
  }
}
