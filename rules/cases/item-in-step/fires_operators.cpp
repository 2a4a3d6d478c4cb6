// Operators of ATen's kind: they switch to the device of what they are given, and then ask it.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>

at::Tensor nll_loss(const at::Tensor& self, const at::Tensor& target) {
  c10::cuda::CUDAGuard device_guard(self.device());
  TORCH_CHECK(self.size(1) > target.max().item<int>(), "out of bounds");  // expect: item-in-step
  return at::native::nll_loss_forward_cuda(self, target);
}

at::Tensor packed(const at::Tensor& values, const at::Tensor& lengths) {
  const c10::OptionalDeviceGuard guard(device_of(values));
  const auto total = lengths.sum().item<int64_t>();  // expect: item-in-step
  return at::empty({total}, values.options());
}
