// Matrix products of bf16 operands, summed in floats, by the instruction that multiplies pairs of
// them (AVX512-BF16). B is read from panels of columns in which a pair's halves lie together.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stallscope::trainer {

/// Columns of a panel: with kHalfRows rows, as many sums as the registers hold.
inline constexpr size_t kHalfColumns = 48, kHalfRows = 8;
/// Rows that are packed together: whole panels where B is transposed, pairs where it is not.
inline constexpr size_t kHalfPackRows = kHalfColumns;
/// The deepest that a panel is when it is multiplied in one go: as deep as fits beside the rows of
/// A, since adding to C costs a tenth where it is done every 1024. Results in bf16 need one go.
inline constexpr size_t kHalfDepth = 4096;

/// C = base + bias + A B: A is [m, k] in rows, C and base [m, n], bias [n].
struct HalfProduct {
  size_t m, n, k;  ///< k is even
  const uint16_t* a;
  const uint16_t* b;  ///< packed: all panels; else [k, n] in rows
  bool packed;
  const float *bias, *base;  ///< may be null; base may be C
  float* c;                  ///< null: the result is of bf16, without a base, k <= kHalfDepth
  uint16_t* half_c;
};

constexpr size_t half_panels(size_t columns) {
  return (columns + kHalfColumns - 1) / kHalfColumns;
}
/// Halves that all panels of a B of these sizes take.
constexpr size_t half_packed_size(size_t k, size_t n) {
  return half_panels(n) * kHalfColumns * k;
}
/// Halves of scratch memory that one thread needs where B is not packed.
inline constexpr size_t kHalfScratch = size_t{16} * kHalfColumns * 1024;

// These run only on machines that have AVX512-BF16.

/// Rows [row_begin, row_end), multiples of kHalfRows but at the end, of the panels' columns.
void multiply_halves(const HalfProduct& product, size_t row_begin, size_t row_end,
                     size_t panel_begin, size_t panel_end, uint16_t* scratch);
/// Packs a part of B, [k, n] or, transposed, [n, k]: `rows` are rows [row_begin, row_end) of it as
/// it lies, from a multiple of kHalfPackRows on and up to one, or to its end.
void pack_halves(uint16_t* to, const uint16_t* rows, size_t k, size_t n, bool transposed,
                 size_t row_begin, size_t row_end);

}  // namespace stallscope::trainer
