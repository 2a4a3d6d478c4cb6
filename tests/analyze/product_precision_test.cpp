#include "analyze/product_precision.h"

#include <doctest/doctest.h>

#include <string>

namespace stallscope {
namespace {

TEST_CASE("kernels of matrix products name the precision of their operands") {
  struct Case {
    const char *kernel, *precision;
  };
  for (const auto& [kernel, precision] :
       {Case{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "bf16"},
        Case{"cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1", "bf16"},
        Case{"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn", "fp16"},
        Case{"turing_h1688gemm_128x128_ldg8_nn", "fp16"},
        Case{"cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4", "tf32"},
        Case{"sm80_xmma_gemm_tf32f32_tf32f32_f32_tn_n_tilesize64x64", "tf32"},
        Case{"ampere_sgemm_32x32_sliced1x4_tn", "fp32"}, Case{"gemm_f32_1024x768x768", "fp32"},
        Case{"gemm_bf16_1024x768x768", "bf16"}, Case{"gemm_kernel", ""}}) {
    CAPTURE(std::string(kernel));
    CHECK(precision_in_name(kernel) == precision);
  }
}

}  // namespace
}  // namespace stallscope
