#include "trainer/ops/eager.h"

#include <algorithm>
#include <cmath>

#include "trainer/kernels/table.h"

namespace stallscope::trainer {
namespace {

// The work of a kernel that touches each of `count` floats `accesses` times.
Work streaming(size_t count, int accesses) {
  const auto n = static_cast<double>(count);
  return {.flops = n, .bytes = n * sizeof(float) * accesses};
}

template <typename T>
T read_first(Stream& stream, const T* value) {
  T host{};
  stream.copy_to_host(&host, value, sizeof host);
  return host;
}

}  // namespace

void accumulate(Stream& stream, float* target, const float* source, size_t count) {
  stream.launch("accumulate_kernel", streaming(count, 3),
                [=] { kernels<float>().axpby(target, source, 1.0F, 1.0F, 0, count); });
}

void scale(Stream& stream, float* x, float factor, size_t count) {
  stream.launch("scale_kernel", streaming(count, 2),
                [=] { kernels<float>().axpby(x, x, factor, 0.0F, 0, count); });
}

void clip(Stream& stream, float* x, const double* squares, double limit, size_t count) {
  stream.launch("clip_scale_kernel", streaming(count, 2), [=] {
    const double norm = std::sqrt(*squares);
    if (norm > limit)
      kernels<float>().axpby(x, x, static_cast<float>(limit / norm), 0.0F, 0, count);
  });
}

void sum_of_squares(Stream& stream, double* out, std::span<const float> x) {
  stream.launch("norm_kernel", streaming(x.size(), 1),
                [=] { *out = kernels<float>().sum_of_squares(x.data(), 0, x.size()); });
}

void sum_of_squares(Stream& stream, double* out, std::span<const std::span<float>> spans) {
  size_t count = 0;
  for (const std::span<float> it : spans) count += it.size();
  stream.launch("multi_tensor_norm_kernel", streaming(count, 1), [=] {
    double total = 0;
    for (const std::span<float> it : spans)
      total += kernels<float>().sum_of_squares(it.data(), 0, it.size());
    *out = total;
  });
}

void triu(Stream& stream, float* matrix, size_t size, float value) {
  const size_t count = size * size;
  stream.launch("fill_kernel", streaming(count, 1), [=] { std::fill_n(matrix, count, 1.0F); });
  stream.launch("triu_kernel", streaming(count, 2), [=] {
    for (size_t row = 0; row < size; ++row) std::fill_n(matrix + row * size, row + 1, 0.0F);
  });
  stream.launch("masked_fill_kernel", streaming(count, 2),
                [=] { std::replace(matrix, matrix + count, 1.0F, value); });
}

void sinusoid_table(Stream& stream, float* table, size_t rows, size_t columns) {
  stream.launch("arange_kernel", streaming(rows * columns, 1), [=] {
    for (size_t i = 0; i < rows * columns; ++i) table[i] = static_cast<float>(i / columns);
  });
  // A power and a sine per element, in double precision.
  const Work work{.flops = 2000.0 * static_cast<double>(rows * columns),
                  .bytes = 8.0 * static_cast<double>(rows * columns)};
  stream.launch("sin_cos_kernel", work, [=] {
    for (size_t i = 0; i < rows * columns; ++i) {
      const size_t c = i % columns;
      const double exponent = static_cast<double>(c / 2 * 2) / static_cast<double>(columns);
      const double angle = static_cast<double>(table[i]) / std::pow(10000.0, exponent);
      table[i] = static_cast<float>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  });
}

float item(Stream& stream, const float* value) {
  return read_first(stream, value);
}
double item(Stream& stream, const double* value) {
  return read_first(stream, value);
}

}  // namespace stallscope::trainer
