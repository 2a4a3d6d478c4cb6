// The kernels lie behind wrappers in another file's functions.
#include <cuda_runtime.h>

void cuda_sum(int blocks, const float* x, float* out, int n) {
  cudaF_sum(blocks, x, out, n);
}
void cudaF_sum(int blocks, const float* x, float* out, int n) {
  sum_kernel<<<blocks, 256>>>(x, out, n);
}

float CuVector::Sum() const {
  float sum = 0, *device_sum;
  CU_SAFE_CALL(cudaMalloc(reinterpret_cast<void**>(&device_sum), sizeof(float)));  // expect: device-alloc-in-loop
  cuda_sum(1, data_, device_sum, dim_);
  CU_SAFE_CALL(cudaMemcpy(&sum, device_sum, sizeof(float), cudaMemcpyDeviceToHost));
  CU_SAFE_CALL(cudaFree(device_sum));  // expect: device-alloc-in-loop
  return sum;
}
