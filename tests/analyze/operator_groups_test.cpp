#include "analyze/operator_groups.h"

#include <doctest/doctest.h>

namespace stallscope {
namespace {

TEST_CASE("kernels are grouped by their name, then by their operator's") {
  using enum OperatorGroup;
  const struct {
    const char *kernel, *op;
    OperatorGroup group;
  } cases[] = {
      {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "aten::mm", product},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "", product},
      {"void cutlass::Kernel2<cutlass_80_tensorop_bf16>", "aten::addmm", product},
      {"gemm_bf16_1024x3072x768", "", product},
      {"flash_fwd_kernel", "aten::_flash_attention_forward", attention},
      {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80", "", attention},
      {"void softmax_warp_forward<float>", "aten::_softmax", attention},
      {"attention_backward_kernel", "", attention},
      {"void cunn_SoftMaxForward<LogSoftMaxForwardEpilogue>", "aten::_log_softmax", loss},
      {"nll_loss_forward_reduce_cuda_kernel_2d", "aten::nll_loss_forward", loss},
      {"void multi_tensor_apply_kernel<FusedAdamMathFunctor>", "aten::_fused_adamw_", optimizer},
      {"fused_adamw_kernel", "", optimizer},
      {"indexSelectLargeIndex", "aten::index_select", embedding},
      {"embedding_backward_feature_kernel", "aten::embedding_dense_backward", embedding},
      {"void vectorized_layer_norm_kernel<float>", "aten::native_layer_norm", norm},
      {"void vectorized_elementwise_kernel<4, GeluCUDAKernelImpl>", "aten::gelu", norm},
      {"anonymous", "aten::linear", product},
      {"anonymous", "", unmatched},
  };
  for (const auto& it : cases) {
    CAPTURE(it.kernel);
    CHECK(operator_group(it.kernel, it.op) == it.group);
  }
}

}  // namespace
}  // namespace stallscope
