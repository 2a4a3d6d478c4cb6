// What the operators of a library have in common runs as often as they do.
#include <cuda_runtime.h>

void copy_strides(const Tensor& x, size_t* strides) {
  cudaMemcpy(strides, x.strides.data(), x.rank * sizeof(size_t),  // expect: blocking-host-to-device
             cudaMemcpyHostToDevice);
}

Tensor operator+(const Tensor& a, const Tensor& b) {
  Tensor sum = like(a);
  copy_strides(a, sum.device_strides);
  add<<<64, 256>>>(a.data, b.data, sum.device_strides, sum.data);
  return sum;
}
