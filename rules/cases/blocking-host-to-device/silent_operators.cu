// What a file of weights is copied by, and what only loading calls beside an operator.
#include <cuda_runtime.h>

void copy_strides(const Tensor& x, size_t* strides) {
  cudaMemcpy(strides, x.strides.data(), x.rank * sizeof(size_t), cudaMemcpyHostToDevice);
}

void load_weights(Tensor& weights) {
  copy_strides(weights, weights.device_strides);
}

Tensor operator+(const Tensor& a, const Tensor& b) {
  Tensor sum = like(a);
  if (sum.device_strides == nullptr) copy_strides(a, sum.device_strides);
  add<<<64, 256>>>(a.data, b.data, sum.device_strides, sum.data);
  return sum;
}
