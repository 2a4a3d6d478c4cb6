// Helpers that are about no device, operators that have what they need on the host.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>

double shown(const at::Tensor& loss) { return loss.item<double>(); }  // its callers know why

at::Tensor nll_loss(const at::Tensor& self, const at::Tensor& target) {
  c10::cuda::CUDAGuard device_guard(self.device());
  TORCH_CHECK(self.size(0) == target.size(0), "of other sizes");
  return at::native::nll_loss_forward_cuda(self, target);
}

at::Tensor packed(const at::Tensor& values, at::IntArrayRef lengths) {
  const c10::OptionalDeviceGuard guard(device_of(values));
  const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  return at::empty({total}, values.options());
}
