#include "trainer/ops/eager.h"

#include "trainer/kernels/table.h"

namespace stallscope::trainer {
namespace {

Work streaming(size_t count, int accesses) {
  return {.flops = static_cast<double>(count),
          .bytes = static_cast<double>(count) * sizeof(float) * accesses};
}

}  // namespace

void accumulate(Stream& stream, float* target, const float* source, size_t count) {
  stream.launch("accumulate_kernel", streaming(count, 3),
                [=] { kernels<float>().axpby(target, source, 1.0F, 1.0F, 0, count); });
}

float item(Stream& stream, const float* value) {
  float host = 0;
  stream.copy_to_host(&host, value, sizeof host);
  return host;
}

}  // namespace stallscope::trainer
