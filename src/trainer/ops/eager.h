// Single operations that a program launches itself, outside any Program: what a
// user writes between the layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trainer/device/device.h"

namespace stallscope::trainer {

/// target += source, on the device.
void accumulate(Stream& stream, float* target, const float* source, size_t count);
/// x *= factor.
void scale(Stream& stream, float* x, float factor, size_t count);
/// x *= min(1, limit / sqrt(*squares)): gradient clipping with the norm still on the device.
void clip(Stream& stream, float* x, const double* squares, double limit, size_t count);

/// *out = the sum of squares of x.
void sum_of_squares(Stream& stream, double* out, std::span<const float> x);
/// *out = the sum of squares of all spans, in one launch. `spans` must outlive the launch.
void sum_of_squares(Stream& stream, double* out, std::span<const std::span<float>> spans);

/// A [size, size] matrix of `value` above its diagonal and zero elsewhere: three kernels.
void triu(Stream& stream, float* matrix, size_t size, float value);
/// The [rows, columns] table of positions: sin(r / 10000^(c/columns)) in even columns, the cosine
/// of the same in odd ones: two kernels.
void sinusoid_table(Stream& stream, float* table, size_t rows, size_t columns);

/// Copies the first element to the host: waits for everything queued before.
float item(Stream& stream, const float* value);
double item(Stream& stream, const double* value);

}  // namespace stallscope::trainer
