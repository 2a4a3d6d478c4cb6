#include <torch/extension.h>

torch::Tensor scaled(torch::Tensor x, torch::Tensor scale) {
  TORCH_CHECK(scale.is_cuda(), "scale must be on the device");
  return x * scale.item<double>();  // expect: item-in-step
}

torch::Tensor shifted(torch::Tensor x, torch::Tensor shift) {
  TORCH_CHECK(x.device().is_cpu(), "x must be on the host");
  return x + shift.item<double>();  // expect: item-in-step
}

torch::Tensor raised(torch::Tensor x, torch::Tensor power) {
  TORCH_CHECK(power.dim() == 0);
  return x.pow(power.item<double>());  // expect: item-in-step
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("scaled", &scaled);
  m.def("shifted", &shifted);
  m.def("raised", &raised);
}
