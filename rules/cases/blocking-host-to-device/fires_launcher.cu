#include <cuda_runtime.h>

// The shape of each call crosses the bus, and the host waits for it.
void broadcast_add(float* out, const float* x, const int* shape, int ndim, int* d_shape) {
  CUDA_CHECK(cudaMemcpy(d_shape, shape, ndim * sizeof(int), cudaMemcpyHostToDevice));  // expect: blocking-host-to-device
  broadcast_kernel<<<64, 256>>>(out, x, d_shape, ndim);
}

class Pool {
 public:
  void run(float* out, const float* x) {
    cudaMemcpy(limits_, host_limits_, sizeof(limits_), cudaMemcpyHostToDevice);  // expect: blocking-host-to-device
    pool_kernel<<<64, 256>>>(out, x, limits_);
  }
};

void train(Net& net, const float* host, size_t bytes, int num_steps) {
  for (int step = 0; step < num_steps; ++step) {
    cudaMemcpy(net.inputs, host, bytes, cudaMemcpyHostToDevice);  // expect: blocking-host-to-device
    net.backward();
  }
}

void grouped_product(const std::vector<float*>& a, int n, cudaStream_t stream) {
  cutlass::DeviceAllocation<float*> pointers(n);
  pointers.copy_from_host(a.data());  // expect: blocking-host-to-device
  product<<<n, 256, 0, stream>>>(pointers.get(), n);
}

void slice(float* out, const float* x, const int* begin, int* d_begin, int ndim) {
  cudaMemcpy((void*)d_begin, (void*)begin, ndim * sizeof(int), cudaMemcpyHostToDevice);  // expect: blocking-host-to-device
  slice_kernel<<<64, 256>>>(out, x, d_begin, ndim);
}
