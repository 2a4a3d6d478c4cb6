#include <torch/extension.h>

template <int depth, typename Functor>
void multi_tensor_apply(int chunks, const at::Tensor& noop, Functor functor) {
  int filled = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    bool full = ++filled == depth;
    bool last_chunk = chunk == chunks - 1;
    if (full || last_chunk) {
      apply_kernel<<<filled, 512>>>(noop.data_ptr<int>(), functor);
      cudaDeviceSynchronize();  // expect: explicit-sync
      filled = 0;
    }
  }
}

void adam_cuda(int chunks, at::Tensor noop) {
  multi_tensor_apply<4>(chunks, noop, AdamFunctor());
}

torch::Tensor fused_bias_act_op(const torch::Tensor& x) {
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "fused_bias_act", [&] {
    bias_act_kernel<scalar_t><<<64, 128>>>(y.data_ptr<scalar_t>(), x.data_ptr<scalar_t>());
    cudaDeviceSynchronize();  // expect: explicit-sync
  });
  return y;
}

torch::Tensor fused_bias_act(const torch::Tensor& x) {
  return fused_bias_act_op(x);
}

torch::Tensor gelu_cuda(const torch::Tensor& x, int64_t n) {
  auto y = torch::empty_like(x);
  if (n % 32 == 0) {
    gelu_aligned<<<64, 128>>>(y.data_ptr<float>(), x.data_ptr<float>());
    cudaDeviceSynchronize();  // expect: explicit-sync
  } else if (n == 1) {
    gelu_one<<<1, 1>>>(y.data_ptr<float>(), x.data_ptr<float>());
    cudaDeviceSynchronize();  // expect: explicit-sync
  }
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("adam", &adam_cuda, "one step of Adam");
  m.def("fused_bias_act", &fused_bias_act, "bias and activation");
  m.def("gelu", &gelu_cuda, "GELU");
}
