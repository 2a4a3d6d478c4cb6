// Compiled for AVX512-BF16: no inline function of others may be used here, lest this file's copy of
// it be picked for an older machine.
#include "trainer/kernels/half_product.h"

#include <immintrin.h>

namespace stallscope::trainer {
namespace {

constexpr size_t kLanes = 16, kVectors = kHalfColumns / kLanes;
/// Rows of A that are kept in the second-level cache beside the panel that they are multiplied by,
/// and panels that are visited for each such block of rows: they fill the third.
constexpr size_t kRowBlockBytes = 256 << 10, kPanelBlock = 16;
/// Pairs in a cache line.
constexpr size_t kLinePairs = 16;

size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}
size_t parts_of(size_t whole, size_t part) {
  return (whole + part - 1) / part;
}

// Where a tile's rows start from and go to.
struct Ends {
  const float* start;  // null: zeros
  const float* bias;   // null: none
  float* c;            // null: to half_c
  uint16_t* half_c;
  size_t stride;      // of start and C
  bool fetches_next;  // the rows of A after this tile's: they were not read yet
};

template <size_t kRows>
void multiply_tile(const uint16_t* a, size_t stride, const uint16_t* b, size_t pairs,
                   const Ends& ends) {
  __m512 sums[kRows][kVectors];
#pragma GCC unroll 8
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = ends.start == nullptr
                       ? _mm512_setzero_ps()
                       : _mm512_loadu_ps(ends.start + r * ends.stride + v * kLanes);
      if (ends.bias != nullptr)
        sums[r][v] = _mm512_add_ps(sums[r][v], _mm512_loadu_ps(ends.bias + v * kLanes));
    }
  }
  const uint16_t* lower = a + (kRows > 4 ? 4 * stride : 0);
  for (size_t p = 0; p < pairs; ++p, a += 2, lower += 2, b += 2 * kHalfColumns) {
    if (ends.fetches_next && p % kLinePairs == 0) {
#pragma GCC unroll 8
      for (size_t r = 0; r < kRows; ++r) __builtin_prefetch(a + (kRows + r) * stride);
    }
    __m512bh row[kVectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) row[v] = (__m512bh)_mm512_loadu_si512(b + v * 2 * kLanes);
#pragma GCC unroll 8
    for (size_t r = 0; r < kRows; ++r) {
      int pair;
      __builtin_memcpy(&pair, r < 4 ? a + r * stride : lower + (r - 4) * stride, sizeof pair);
      const __m512bh both = (__m512bh)_mm512_set1_epi32(pair);
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) sums[r][v] = _mm512_dpbf16_ps(sums[r][v], both, row[v]);
    }
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      const size_t at = r * ends.stride + v * kLanes;
      if (ends.c != nullptr) {
        _mm512_storeu_ps(ends.c + at, sums[r][v]);
      } else {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(ends.half_c + at),
                            (__m256i)_mm512_cvtneps_pbh(sums[r][v]));
      }
    }
  }
}

void multiply_rows(const uint16_t* a, size_t stride, const uint16_t* b, size_t pairs, size_t rows,
                   Ends ends) {
  auto advance = [&](size_t by) {
    a += by * stride;
    if (ends.start != nullptr) ends.start += by * ends.stride;
    if (ends.c != nullptr) {
      ends.c += by * ends.stride;
    } else {
      ends.half_c += by * ends.stride;
    }
    rows -= by;
  };
  for (; rows >= kHalfRows; advance(kHalfRows)) multiply_tile<kHalfRows>(a, stride, b, pairs, ends);
  if (rows >= 4) multiply_tile<4>(a, stride, b, pairs, ends), advance(4);
  if (rows >= 2) multiply_tile<2>(a, stride, b, pairs, ends), advance(2);
  if (rows > 0) multiply_tile<1>(a, stride, b, pairs, ends);
}

// The last panel, where it reaches beyond C: through a tile of its own.
void multiply_edge(const uint16_t* a, size_t stride, const uint16_t* b, size_t pairs, size_t rows,
                   const Ends& ends, size_t columns) {
  float tile[kHalfRows * kHalfColumns] = {}, bias[kHalfColumns] = {};
  uint16_t halves[kHalfRows * kHalfColumns];
  if (ends.bias != nullptr) __builtin_memcpy(bias, ends.bias, columns * sizeof(float));
  for (size_t first = 0; first < rows; first += kHalfRows) {
    const size_t count = smaller(kHalfRows, rows - first);
    if (ends.start != nullptr)
      for (size_t r = 0; r < count; ++r)
        __builtin_memcpy(tile + r * kHalfColumns, ends.start + (first + r) * ends.stride,
                         columns * sizeof(float));
    multiply_rows(a + first * stride, stride, b, pairs, count,
                  {.start = ends.start == nullptr ? nullptr : tile,
                   .bias = ends.bias == nullptr ? nullptr : bias,
                   .c = ends.c == nullptr ? nullptr : tile,
                   .half_c = halves,
                   .stride = kHalfColumns,
                   .fetches_next = ends.fetches_next});
    for (size_t r = 0; r < count; ++r) {
      const size_t at = (first + r) * ends.stride;
      if (ends.c != nullptr) {
        __builtin_memcpy(ends.c + at, tile + r * kHalfColumns, columns * sizeof(float));
      } else {
        __builtin_memcpy(ends.half_c + at, halves + r * kHalfColumns, columns * sizeof(uint16_t));
      }
    }
  }
}

// Columns whose halves are loaded: those beyond n are zero.
__mmask16 mask_of(size_t columns, size_t first) {
  const size_t left = columns > first ? columns - first : 0;
  return static_cast<__mmask16>(left >= kLanes ? 0xFFFFU : (1U << left) - 1);
}

// Where a line of a panel is written: past the caches if it is read much later.
enum class Into : bool { cache, memory };
void put_line(uint16_t* to, __m512i line, Into into) {
  if (into == Into::memory) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line);
  } else {
    _mm512_storeu_si512(to, line);
  }
}

// A panel of [k, n] in rows: pairs of rows are interleaved.
void pack_panel(uint16_t* to, const uint16_t* b, size_t stride, size_t k, size_t columns,
                Into into) {
  for (size_t p = 0; p < k; p += 2, to += 2 * kHalfColumns) {
    const uint16_t* upper = b + p * stride;
    for (size_t v = 0; v < kVectors; ++v) {
      const __mmask16 mask = mask_of(columns, v * kLanes);
      const __m512i first =
          _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, upper + v * kLanes));
      const __m512i second =
          _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, upper + stride + v * kLanes));
      put_line(to + v * 2 * kLanes, _mm512_or_si512(first, _mm512_slli_epi32(second, 16)), into);
    }
  }
}

// Rows of 16 words become columns.
void transpose_words(__m512i (&x)[16]) {
  __m512i y[16];
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) {
    y[2 * i] = _mm512_unpacklo_epi32(x[2 * i], x[2 * i + 1]);
    y[2 * i + 1] = _mm512_unpackhi_epi32(x[2 * i], x[2 * i + 1]);
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < 16; i += 4) {
    x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
    x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
    x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
    x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
  }
  // x[4 g + c] holds column 4 q + c of rows 4 g to 4 g + 3 in its quarter q.
#pragma GCC unroll 4
  for (size_t c = 0; c < 4; ++c) {
    const __m512i even_low = _mm512_shuffle_i32x4(x[c], x[4 + c], 0x88);
    const __m512i odd_low = _mm512_shuffle_i32x4(x[c], x[4 + c], 0xDD);
    const __m512i even_high = _mm512_shuffle_i32x4(x[8 + c], x[12 + c], 0x88);
    const __m512i odd_high = _mm512_shuffle_i32x4(x[8 + c], x[12 + c], 0xDD);
    y[c] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
    y[8 + c] = _mm512_shuffle_i32x4(even_low, even_high, 0xDD);
    y[4 + c] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
    y[12 + c] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xDD);
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < 16; ++i) x[i] = y[i];
}

// A panel of [n, k] in rows: a row's pairs lie together already, words are transposed.
void pack_transposed(uint16_t* to, const uint16_t* b, size_t stride, size_t k, size_t columns,
                     Into into) {
  for (size_t p = 0; p < k; p += 2 * kLanes) {
    const size_t pairs = smaller(kLanes, (k - p) / 2);
    const auto mask = static_cast<__mmask16>(pairs == kLanes ? 0xFFFFU : (1U << pairs) - 1);
    for (size_t v = 0; v < kVectors; ++v) {
      __m512i words[kLanes];
#pragma GCC unroll 16
      for (size_t r = 0; r < kLanes; ++r) {
        const size_t row = v * kLanes + r;
        words[r] = row < columns ? _mm512_maskz_loadu_epi32(mask, b + row * stride + p)
                                 : _mm512_setzero_si512();
      }
      transpose_words(words);
#pragma GCC unroll 16
      for (size_t r = 0; r < kLanes; ++r)
        if (r < pairs)
          put_line(to + (p / 2 + r) * 2 * kHalfColumns + v * 2 * kLanes, words[r], into);
    }
  }
}

}  // namespace

void pack_halves(uint16_t* to, const uint16_t* rows, size_t k, size_t n, bool transposed,
                 size_t row_begin, size_t row_end) {
  const Into into = reinterpret_cast<uintptr_t>(to) % 64 == 0 ? Into::memory : Into::cache;
  if (transposed) {
    for (size_t row = row_begin; row < row_end; row += kHalfColumns)
      pack_transposed(to + row * k, rows + (row - row_begin) * k, k, k,
                      smaller(kHalfColumns, n - row), into);
  } else {
    for (size_t first = 0; first < n; first += kHalfColumns)
      pack_panel(to + first * k + row_begin * kHalfColumns, rows + first, n, row_end - row_begin,
                 smaller(kHalfColumns, n - first), into);
  }
  _mm_sfence();  // before others read what was written past the caches
}

void multiply_halves(const HalfProduct& it, size_t row_begin, size_t row_end, size_t panel_begin,
                     size_t panel_end, uint16_t* scratch) {
  const size_t depth = parts_of(it.k / 2, parts_of(it.k, kHalfDepth)) * 2;
  size_t row_block = kRowBlockBytes / (2 * depth) / kHalfRows * kHalfRows;
  if (row_block < kHalfRows) row_block = kHalfRows;
  const size_t panel_block =
      it.packed ? kPanelBlock : smaller(kPanelBlock, kHalfScratch / (depth * kHalfColumns));
  for (size_t block = panel_begin; block < panel_end; block += panel_block) {
    const size_t block_end = smaller(block + panel_block, panel_end);
    for (size_t k = 0; k < it.k; k += depth) {
      const size_t here = smaller(depth, it.k - k);
      for (size_t p = block; p < block_end && !it.packed; ++p) {
        const size_t first = p * kHalfColumns;
        pack_panel(scratch + (p - block) * kHalfColumns * here, it.b + k * it.n + first, it.n, here,
                   smaller(kHalfColumns, it.n - first), Into::cache);
      }
      for (size_t row = row_begin; row < row_end; row += row_block) {
        const size_t rows = smaller(row_block, row_end - row);
        for (size_t p = block; p < block_end; ++p) {
          const size_t first = p * kHalfColumns, columns = smaller(kHalfColumns, it.n - first);
          const size_t at = row * it.n + first;
          const uint16_t* const b = it.packed ? it.b + (p * it.k + k) * kHalfColumns
                                              : scratch + (p - block) * kHalfColumns * here;
          const uint16_t* const a = it.a + row * it.k + k;
          const float* const start = k > 0 ? it.c : it.base;
          const Ends ends{.start = start == nullptr ? nullptr : start + at,
                          .bias = k > 0 || it.bias == nullptr ? nullptr : it.bias + first,
                          .c = it.c == nullptr ? nullptr : it.c + at,
                          .half_c = it.c == nullptr ? it.half_c + at : nullptr,
                          .stride = it.n,
                          .fetches_next = p == block};
          if (columns == kHalfColumns) {
            multiply_rows(a, it.k, b, here / 2, rows, ends);
          } else {
            multiply_edge(a, it.k, b, here / 2, rows, ends, columns);
          }
        }
      }
    }
  }
}

}  // namespace stallscope::trainer
