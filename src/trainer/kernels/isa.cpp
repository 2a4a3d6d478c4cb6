// All kernels for one instruction set; compiled once per set with
// STALLSCOPE_ISA (a namespace) and STALLSCOPE_VECTOR_BYTES. Nothing but the
// tables leaves this file: a shared inline function compiled for a newer
// instruction set could otherwise be picked for an older machine.
#include <cmath>
#include <cstring>
#include <limits>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "trainer/kernels/table.h"

namespace stallscope::trainer::STALLSCOPE_ISA {
extern const KernelTable<float> kFloatKernels;
extern const KernelTable<double> kDoubleKernels;

namespace {

// exp(x) to 2 ulp for float, in a form that loops of it vectorise; flushes to 0 below -87.
inline float exp_of(float x) {
  const float clamped = x < -87.0F ? -87.0F : x > 88.0F ? 88.0F : x;
  // x = n ln2 + r; ln2 in two parts (Cody and Waite).
  const float n = __builtin_rintf(clamped * 1.44269504088896341F);
  float r = clamped - n * 0.693359375F;
  r = r - n * -2.12194440e-4F;
  // Minimax polynomial of Cephes' expf.
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const float value = p * r * r + r + 1.0F;
  // Not a number has no integer; the value above already carries it.
  const int32_t exponent = (static_cast<int32_t>(n == n ? n : 0.0F) + 127) << 23;
  float power;
  std::memcpy(&power, &exponent, sizeof power);
  return x < -87.0F ? 0.0F : value * power;
}
inline double exp_of(double x) {
  return std::exp(x);
}

// In this order: attention is made of the product's tile and a softmax, the optimiser converts.
// clang-format off
#include "trainer/kernels/convert.inc.h"
#include "trainer/kernels/dropout.inc.h"
#include "trainer/kernels/gemm.inc.h"
#include "trainer/kernels/softmax.inc.h"
#include "trainer/kernels/attention.inc.h"
#include "trainer/kernels/elementwise.inc.h"
// clang-format on
#include "trainer/kernels/loss.inc.h"
#include "trainer/kernels/norm.inc.h"
#include "trainer/kernels/select.inc.h"
#include "trainer/kernels/sparse.inc.h"

#define STALLSCOPE_TEXT_(x) #x
#define STALLSCOPE_TEXT(x) STALLSCOPE_TEXT_(x)

template <typename T>
constexpr KernelTable<T> table_of() {
  return {.instruction_set = STALLSCOPE_TEXT(STALLSCOPE_ISA),
          .gemm = gemm<T>,
          .gelu_forward = gelu_forward<T>,
          .gelu_backward = gelu_backward<T>,
          .bias_add = bias_add<T>,
          .column_sum = column_sum<T>,
          .axpby = axpby<T>,
          .layer_norm_forward = layer_norm_forward<T>,
          .layer_norm_backward = layer_norm_backward<T>,
          .layer_norm_parameters = layer_norm_parameters<T>,
          .attention_forward = attention_forward<T>,
          .attention_backward = attention_backward<T>,
          .attention_scratch = attention_scratch<T>,
          .embedding_forward = embedding_forward<T>,
          .embedding_backward = embedding_backward<T>,
          .row_max = row_max<T>,
          .softmax_partial = softmax_partial<T>,
          .cross_entropy = cross_entropy<T>,
          .softmax_cross_entropy = softmax_cross_entropy<T>,
          .adamw = adamw<T>,
          .sum_of_squares = sum_of_squares<T>,
          .feature_statistics = feature_statistics<T>,
          .find_above = find_above<T>,
          .dropout = dropout<T>,
          .negative_part = negative_part<T>,
          .sparse_row = sparse_row<T>,
          .sparse_feature_backward = sparse_feature_backward<T>,
          .convert_half = convert_half<T>,
          .transpose_half = transpose_half<T>,
          .transpose_halves = transpose_half<uint16_t>};
}

}  // namespace

constexpr KernelTable<float> kFloatTable = table_of<float>();
constexpr KernelTable<double> kDoubleTable = table_of<double>();
const KernelTable<float> kFloatKernels = kFloatTable;
const KernelTable<double> kDoubleKernels = kDoubleTable;

}  // namespace stallscope::trainer::STALLSCOPE_ISA
