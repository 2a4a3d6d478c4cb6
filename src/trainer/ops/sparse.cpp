#include "trainer/ops/sparse.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cmath>

#include "trainer/kernels/table.h"
#include "trainer/ops/team.h"

namespace stallscope::trainer {
namespace {

constexpr size_t kLargerThanCaches = 32U << 20;

// Before others read what was written past the caches.
void finish_writes() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

size_t at(const int32_t* numbers, size_t i) {
  return static_cast<size_t>(numbers[i]);
}

}  // namespace

template <typename T>
void reverse_index(const SparseList<T>& list, int team) {
  const SparseShape& s = list.shape;
  for_rows(team, s.layers, 1, [&](size_t begin, size_t end) {
    for (size_t layer = begin; layer < end; ++layer) {
      const size_t first = at(list.row_start, layer * s.batch);
      const size_t last = at(list.row_start, (layer + 1) * s.batch);
      // Shifted by one, so that filling moves each start to its own place. Each layer writes
      // [1, features] of its part: the start of the next layer is its own.
      int32_t* const start = list.column_start + layer * s.features;
      std::fill_n(start + 1, s.features, 0);
      for (size_t e = first; e < last; ++e)
        if (at(list.feature, e) + 1 < s.features) ++start[list.feature[e] + 2];
      start[1] = static_cast<int32_t>(first);
      for (size_t f = 1; f < s.features; ++f) start[f + 1] += start[f];
      for (size_t row = 0; row < s.batch; ++row) {
        const size_t r = layer * s.batch + row;
        for (size_t e = at(list.row_start, r); e < at(list.row_start, r + 1); ++e) {
          list.row[e] = static_cast<int32_t>(row);
          list.entry[start[list.feature[e] + 1]++] = static_cast<int32_t>(e);
        }
      }
    }
  });
  list.column_start[0] = 0;
}

template <typename T>
void active_features(const SparseList<T>& list, int32_t* active) {
  for (size_t i = 0; i < list.shape.columns(); ++i) {
    active[i] = 0;
    for (size_t j = at(list.column_start, i); j < at(list.column_start, i + 1); ++j)
      if (list.value[list.entry[j]] != 0) active[i] = 1;
  }
}

int32_t feature_activity(const int32_t* active, size_t count, int32_t* idle, int32_t dead_after) {
  int32_t dead = 0;
  for (size_t i = 0; i < count; ++i) {
    idle[i] = active[i] != 0 ? 0 : std::min(idle[i], INT32_MAX - 1) + 1;
    dead += idle[i] > dead_after ? 1 : 0;
  }
  return dead;
}

template <typename T>
void sparse_decode(const SparseList<T>& list, const T* decoder, T* outputs, size_t width,
                   size_t source, int team) {
  const SparseShape& s = list.shape;
  const size_t targets = s.layers - source;
  // Target by target, so that rows of a decoder which several tokens use stay in the cache.
  for (size_t target = 0; target < targets; ++target) {
    const T* const w = decoder + target * width;
    for_rows(team, s.batch, 1, [&](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row) {
        T* const y = outputs + ((source + target) * s.batch + row) * width;
        if (source == 0) std::fill_n(y, width, T(0));
        const size_t first = at(list.row_start, source * s.batch + row);
        const size_t last = at(list.row_start, source * s.batch + row + 1);
        kernels<T>().sparse_row(y, list.value + first, list.feature + first, last - first, w,
                                targets * width, width);
      }
    });
  }
}

template <typename T>
void sparse_decode_backward(const SparseList<T>& list, const SparseDecodeBackward<T>& it) {
  const SparseShape& s = list.shape;
  const size_t targets = s.layers - it.source;
  const int32_t* const start = list.column_start + it.source * s.features;
  constexpr size_t kGrain = 16;  // entries of one feature are one thread's
  const bool past_caches =
      !it.add && s.features * targets * it.width * sizeof(T) > kLargerThanCaches;
  for (size_t target = 0; target < targets; ++target) {
    const T* const errors = it.errors + (it.source + target) * s.batch * it.width;
    for_rows(it.team, s.features, kGrain, [&](size_t begin, size_t end) {
      for (size_t f = begin; f < end; ++f) {
        const size_t place = (f * targets + target) * it.width;
        const T* const w = it.decoder + place;
        const size_t next_entries = f + 1 < end ? at(start, f + 2) - at(start, f + 1) : 0;
        kernels<T>().sparse_feature_backward(
            {.w = w,
             .next_w = next_entries > 0 ? w + targets * it.width : nullptr,
             .dw = it.decoder_gradient + place,
             .pull = it.pull == nullptr ? T(0) : it.pull[it.source * s.features + f],
             .errors = errors,
             .width = it.width,
             .entry = list.entry + start[f],
             .entries = at(start, f + 1) - at(start, f),
             .next_entries = next_entries,
             .row = list.row,
             .value = list.value,
             .value_gradient = it.value_gradient,
             .add = it.add,
             .past_caches = past_caches});
      }
      if (past_caches) finish_writes();
    });
  }
}

template <typename T>
T sparse_penalty(const SparseList<T>& list, const T* decoder, size_t width, size_t source, T factor,
                 T c, T* value_gradient, T* pull, int team) {
  const SparseShape& s = list.shape;
  const size_t each = (s.layers - source) * width, first = source * s.features;
  T* const own = pull + first;
  for_rows(team, s.features, 16, [&](size_t begin, size_t end) {
    for (size_t f = begin; f < end; ++f) {
      own[f] = 0;
      if (list.column_start[first + f] == list.column_start[first + f + 1]) continue;
      const double squares = kernels<T>().sum_of_squares(decoder + f * each, 0, each);
      own[f] =
          static_cast<T>(std::sqrt(squares));  // the norm, which the pull below takes the place of
    }
  });
  T sum = 0;
  for (size_t f = 0; f < s.features; ++f) {
    const T norm = own[f];
    T slope = 0;
    for (size_t j = at(list.column_start, first + f); j < at(list.column_start, first + f + 1);
         ++j) {
      const size_t e = at(list.entry, j);
      const T value = std::tanh(c * norm * list.value[e]);
      const T derivative = factor * (1 - value * value) * c;
      sum += value;
      value_gradient[e] = derivative * norm;
      slope += derivative * list.value[e];
    }
    own[f] = norm > 0 ? slope / norm : T(0);
  }
  return factor * sum;
}

template <typename T>
T preactivation_penalty(T* x, size_t count, T factor, T* partial, int team) {
  for_rows(team, count, kPenaltyPiece, [&](size_t begin, size_t end) {
    for (size_t piece = begin; piece < end; piece += kPenaltyPiece)
      partial[piece / kPenaltyPiece] =
          kernels<T>().negative_part(x, factor, piece, std::min(piece + kPenaltyPiece, end));
  });
  T sum = 0;
  for (size_t i = 0; i < preactivation_pieces(count); ++i) sum += partial[i];
  return factor * sum;
}

template <typename T>
void sparse_scatter(const SparseList<T>& list, const T* value_gradient, T* x, int team) {
  const SparseShape& s = list.shape;
  for_rows(team, s.rows(), 16, [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r)
      for (size_t e = at(list.row_start, r); e < at(list.row_start, r + 1); ++e)
        x[r * s.features + at(list.feature, e)] += value_gradient[e];
  });
}

template <typename T>
void threshold_gradient(const SparseList<T>& list, const T* pre_value, const T* threshold,
                        T bandwidth, T* value_gradient, T* gradient) {
  for (size_t column = 0; column < list.shape.columns(); ++column) {
    gradient[column] = 0;
    for (size_t j = at(list.column_start, column); j < at(list.column_start, column + 1); ++j) {
      const size_t e = at(list.entry, j);
      if (std::abs(pre_value[e] - threshold[column]) < bandwidth / 2)
        gradient[column] -= value_gradient[e] * pre_value[e] / bandwidth;
      if (pre_value[e] <= threshold[column]) value_gradient[e] = 0;
    }
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type.
#define STALLSCOPE_SPARSE(T)                                                                       \
  template void reverse_index<T>(const SparseList<T>&, int);                                       \
  template void active_features<T>(const SparseList<T>&, int32_t*);                                \
  template void sparse_decode<T>(const SparseList<T>&, const T*, T*, size_t, size_t, int);         \
  template void sparse_decode_backward<T>(const SparseList<T>&, const SparseDecodeBackward<T>&);   \
  template T sparse_penalty<T>(const SparseList<T>&, const T*, size_t, size_t, T, T, T*, T*, int); \
  template T preactivation_penalty<T>(T*, size_t, T, T*, int);                                     \
  template void sparse_scatter<T>(const SparseList<T>&, const T*, T*, int);                        \
  template void threshold_gradient<T>(const SparseList<T>&, const T*, const T*, T, T*, T*);
STALLSCOPE_SPARSE(float)
STALLSCOPE_SPARSE(double)
#undef STALLSCOPE_SPARSE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace stallscope::trainer
