// Selections row by row: the k largest of each token, and what is above a threshold.
#include <algorithm>
#include <bit>
#include <cmath>

#include "trainer/ops/sparse.h"
#include "trainer/ops/team.h"
#include "trainer/ops/top_k.h"

namespace stallscope::trainer {
namespace {

constexpr size_t kBins = 2048;

uint32_t key_of(int32_t bits) {
  return std::bit_cast<uint32_t>(bits);
}

// keys[layer * features + feature] of one token; zero for what takes no part.
template <typename T>
void make_keys(const TokenTopK<T>& it, size_t token, int32_t* keys) {
  for (size_t layer = 0; layer < it.layers; ++layer) {
    const T* const row = it.pre + (layer * it.batch + token) * it.features;
    for (size_t f = 0; f < it.features; ++f) {
      const size_t i = layer * it.features + f;
      const bool takes_part = it.idle == nullptr || it.idle[i] >= it.idle_from;
      const T score = it.mean == nullptr ? row[f] : (row[f] - it.mean[i]) * it.scale[i];
      keys[i] = takes_part ? std::bit_cast<int32_t>(order_key(static_cast<float>(score))) : 0;
    }
  }
}

// Whether place a comes before place b among equal keys.
bool comes_first(size_t features, int32_t a, int32_t b) {
  const auto x = static_cast<size_t>(a), y = static_cast<size_t>(b);
  return x % features != y % features ? x % features < y % features : x < y;
}

// The k best of `keys` as ascending places; returns how many there are.
size_t best_places(const int32_t* keys, size_t count, size_t features, size_t k, int32_t* places) {
  size_t histogram[kBins] = {};
  for (size_t i = 0; i < count; ++i) ++histogram[key_of(keys[i]) >> 21];
  size_t bin = kBins, passing = 0;
  while (bin > 0 && passing < k) passing += histogram[--bin];
  const uint32_t lowest = std::max(static_cast<uint32_t>(bin) << 21, 1U);  // zero: none
  size_t found = 0;
  for (size_t i = 0; i < count; ++i)
    if (key_of(keys[i]) >= lowest) places[found++] = static_cast<int32_t>(i);
  if (found > k) {
    std::nth_element(places, places + k, places + found, [&](int32_t a, int32_t b) {
      const uint32_t x = key_of(keys[a]), y = key_of(keys[b]);
      return x != y ? x > y : comes_first(features, a, b);
    });
    found = k;
  }
  std::sort(places, places + found);
  return found;
}

// Leaves in `places` those of a token that are kept among all ranks'; -1 for the others.
template <typename T>
void keep(const TokenTopK<T>& it, size_t token, size_t k, int32_t* scratch) {
  const size_t stride = it.batch * it.k;
  const int32_t* const own = it.keys + it.rank * stride + token * it.k;
  int32_t* const places = it.places + token * it.k;
  for (size_t r = 0; r < it.ranks; ++r)
    std::copy_n(it.keys + r * stride + token * it.k, it.k, scratch + r * it.k);
  const size_t all = it.k * it.ranks;
  uint32_t threshold = 1;
  if (k > 0 && k < all) {
    std::nth_element(scratch, scratch + k - 1, scratch + all,
                     [](int32_t a, int32_t b) { return key_of(a) > key_of(b); });
    threshold = std::max(key_of(scratch[k - 1]), 1U);
  }
  size_t above = 0, ties_before = 0, own_ties = 0;
  for (size_t r = 0; r < it.ranks; ++r) {
    const int32_t* const keys = it.keys + r * stride + token * it.k;
    for (size_t i = 0; i < it.k; ++i) {
      above += key_of(keys[i]) > threshold ? 1 : 0;
      const bool tie = key_of(keys[i]) == threshold;
      ties_before += tie && r < it.rank ? 1 : 0;
      own_ties += tie && r == it.rank ? 1 : 0;
    }
  }
  size_t left = k > above + ties_before ? k - above - ties_before : 0;
  if (k == 0) threshold = ~0U;
  size_t tied = 0;
  for (size_t i = 0; i < it.k; ++i) {
    if (key_of(own[i]) == threshold && own_ties > left) scratch[tied++] = places[i];
    if (key_of(own[i]) < threshold || (key_of(own[i]) == threshold && own_ties > left))
      places[i] = -1;
  }
  if (tied == 0 || left == 0) return;
  std::sort(scratch, scratch + tied,
            [&](int32_t a, int32_t b) { return comes_first(it.features, a, b); });
  for (size_t i = 0; i < it.k && left > 0; ++i)
    if (places[i] < 0 && key_of(own[i]) == threshold) places[i] = scratch[--left];
  std::sort(places, places + it.k);
}

template <typename T>
size_t kept_per_token(const TokenTopK<T>& it) {
  if (it.taking_part == nullptr) return it.k;
  return std::min(it.k, static_cast<size_t>(std::max(*it.taking_part, 0)));
}

}  // namespace

template <typename T>
void token_top_k(const TokenTopK<T>& it, int32_t* scratch) {
  std::fill_n(it.keys, it.ranks * it.batch * it.k, 0);
  if (kept_per_token(it) == 0) return;
  const size_t count = it.layers * it.features;
  const auto threads = static_cast<size_t>(std::max(it.team, 1));
  const size_t each = token_top_k_scratch(it.layers, it.features, it.k, it.ranks);
  for_rows(it.team, threads, 1, [&](size_t begin, size_t end) {
    for (size_t t = begin; t < end; ++t) {
      int32_t* const keys = scratch + t * each;
      int32_t* const places = keys + count;
      for (size_t token = it.batch * t / threads; token < it.batch * (t + 1) / threads; ++token) {
        make_keys(it, token, keys);
        const size_t found = best_places(keys, count, it.features, it.k, places);
        int32_t* const own = it.keys + (it.rank * it.batch + token) * it.k;
        for (size_t i = 0; i < it.k; ++i) {
          it.places[token * it.k + i] = i < found ? places[i] : -1;
          own[i] = i < found ? keys[places[i]] : 0;
        }
      }
    }
  });
}

template <typename T>
void token_top_k_list(const TokenTopK<T>& it, const SparseList<T>& list, int32_t* scratch) {
  const SparseShape& s = list.shape;
  std::fill_n(list.row_start, s.rows() + 1, 0);
  const size_t k = kept_per_token(it);
  if (k == 0) return;
  const size_t each = token_top_k_scratch(it.layers, it.features, it.k, it.ranks);
  const auto threads = static_cast<size_t>(std::max(it.team, 1));
  for_rows(it.team, threads, 1, [&](size_t begin, size_t end) {
    for (size_t t = begin; t < end; ++t)
      for (size_t token = it.batch * t / threads; token < it.batch * (t + 1) / threads; ++token)
        keep(it, token, k, scratch + t * each);
  });
  auto for_each_kept = [&](const auto& body) {
    for (size_t token = 0; token < it.batch; ++token) {
      for (size_t i = 0; i < it.k; ++i) {
        const int32_t place = it.places[token * it.k + i];
        if (place < 0) continue;
        const auto p = static_cast<size_t>(place);
        body(p / it.features * it.batch + token, p % it.features);
      }
    }
  };
  for_each_kept([&](size_t row, size_t) { ++list.row_start[row + 1]; });
  for (size_t r = 0; r < s.rows(); ++r) list.row_start[r + 1] += list.row_start[r];
  // Each start moves to the next row's as the row fills; then all move back by one.
  for_each_kept([&](size_t row, size_t feature) {
    const auto entry = static_cast<size_t>(list.row_start[row]++);
    list.feature[entry] = static_cast<int32_t>(feature);
    list.value[entry] = it.pre[row * it.features + feature];
  });
  for (size_t r = s.rows(); r > 0; --r) list.row_start[r] = list.row_start[r - 1];
  list.row_start[0] = 0;
}

template <typename T>
void jump_list(const T* pre, const T* threshold, T bandwidth, const SparseList<T>& list,
               T* pre_value, int team) {
  const SparseShape& s = list.shape;
  const T half = bandwidth / 2;
  auto over_rows = [&](const auto& body) {
    for_rows(team, s.rows(), 1, [&](size_t begin, size_t end) {
      for (size_t r = begin; r < end; ++r)
        body(r, pre + r * s.features, threshold + r / s.batch * s.features);
    });
  };
  over_rows([&](size_t r, const T* x, const T* limit) {
    int32_t count = 0;
    for (size_t f = 0; f < s.features; ++f) count += x[f] > limit[f] - half ? 1 : 0;
    list.row_start[r + 1] = count;
  });
  list.row_start[0] = 0;
  for (size_t r = 0; r < s.rows(); ++r) list.row_start[r + 1] += list.row_start[r];
  over_rows([&](size_t r, const T* x, const T* limit) {
    auto entry = static_cast<size_t>(list.row_start[r]);
    for (size_t f = 0; f < s.features; ++f) {
      if (!(x[f] > limit[f] - half)) continue;
      list.feature[entry] = static_cast<int32_t>(f);
      pre_value[entry] = x[f];
      list.value[entry++] = x[f] > limit[f] ? x[f] : T(0);
    }
  });
}

#define STALLSCOPE_TOKEN_TOP_K(T)                                                         \
  template void token_top_k<T>(const TokenTopK<T>&, int32_t*);                            \
  template void token_top_k_list<T>(const TokenTopK<T>&, const SparseList<T>&, int32_t*); \
  template void jump_list<T>(const T*, const T*, T, const SparseList<T>&, T*, int);
STALLSCOPE_TOKEN_TOP_K(float)
STALLSCOPE_TOKEN_TOP_K(double)
#undef STALLSCOPE_TOKEN_TOP_K

}  // namespace stallscope::trainer
