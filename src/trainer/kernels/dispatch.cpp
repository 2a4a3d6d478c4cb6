#include "trainer/kernels/table.h"

namespace stallscope::trainer {

#define STALLSCOPE_DECLARE_ISA(isa)                \
  namespace isa {                                  \
  extern const KernelTable<float> kFloatKernels;   \
  extern const KernelTable<double> kDoubleKernels; \
  }
STALLSCOPE_DECLARE_ISA(baseline)
STALLSCOPE_DECLARE_ISA(avx2)
STALLSCOPE_DECLARE_ISA(avx512)
#undef STALLSCOPE_DECLARE_ISA

namespace {

enum class Isa { baseline, avx2, avx512 };

Isa best() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return Isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
  return Isa::baseline;
}

template <typename T>
const T& choose(const T& with_baseline, const T& with_avx2, const T& with_avx512) {
  static const Isa isa = best();
  return isa == Isa::avx512 ? with_avx512 : isa == Isa::avx2 ? with_avx2 : with_baseline;
}

}  // namespace

template <>
const KernelTable<float>& kernels<float>() {
  return choose(baseline::kFloatKernels, avx2::kFloatKernels, avx512::kFloatKernels);
}
template <>
const KernelTable<double>& kernels<double>() {
  return choose(baseline::kDoubleKernels, avx2::kDoubleKernels, avx512::kDoubleKernels);
}

}  // namespace stallscope::trainer
