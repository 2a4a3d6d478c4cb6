#include <cuda_runtime.h>

// Prints what it is handed, and copies no result of a kernel.
void print_matrix(std::ostream& out, const float* device, float* host, int n) {
  // out << <rows, columns >> >(device)
  cudaMemcpy(host, device, n, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) out << host[i] << " < " << n;
}

// Copies within the device.
void accumulate(float* sum, const float* values, int n) {
  add_kernel << <n / 256, 256 >> >(sum, values);
  gpuMemcpy(sum, values, n, gpuMemcpyDeviceToDevice);
}

// Once.
void load_weights(float* host, float* device, int n) {
  convert_kernel << <n / 256, 256 >> >(device, n);
  gpuMemcpy(host, device, n, gpuMemcpyDeviceToHost);
}
