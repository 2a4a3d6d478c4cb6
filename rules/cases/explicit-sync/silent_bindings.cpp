#include <torch/extension.h>

// What is offered to Python runs when Python calls it.
void pybind_ops(py::module& m) {
  m.def("norm_forward", [](torch::Tensor x) { return norm_forward(x); });
  m.def("norm_backward", [](torch::Tensor x) { return norm_backward(x); });
  m.def("override_points", &override_points);
  m.def("synchronize", []() { cudaDeviceSynchronize(); });
}

void Layer::excite_forward_gpu(const float* x, float* y, int n) {
  excite_kernel<<<64, 256>>>(x, y, n);
  if (0) {
    cudaStreamSynchronize(stream_);
  }
}

// Set before training, by its name.
void override_points(float* points, const float* given, int n) {
  scale_kernel<<<64, 256>>>(points, n);
  cudaMemcpyAsync(points, given, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  cudaStreamSynchronize(stream);
}
