// An engine: tensors are made by each operator, and their memory comes from the driver.
#include <cuda_runtime.h>

void* Device::new_handle(const Shape& shape) {
  void* data;
  CUDA_CALL(cudaMalloc(&data, sizeof(float) * shape.size()));  // expect: device-alloc-in-loop
  blocks_.insert(std::make_pair(data, shape.size()));
  return data;
}

Tensor Device::new_tensor(const Shape& shape) { return Tensor(shape, this, new_handle(shape)); }

Tensor Device::add(const Tensor& a, const Tensor& b) {
  Tensor y = new_tensor(a.shape());
  add_kernel<<<64, 256>>>(a.data(), b.data(), y.data());
  return y;
}

Tensor Device::multiply(const Tensor& a, const Tensor& b) {
  Tensor y = new_tensor(a.shape());
  multiply_kernel<<<64, 256>>>(a.data(), b.data(), y.data());
  return y;
}

Tensor Device::tanh(const Tensor& x) {
  Tensor y = new_tensor(x.shape());
  tanh_kernel<<<64, 256>>>(x.data(), y.data());
  return y;
}
