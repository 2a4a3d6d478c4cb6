#include "trainer/ops/top_k.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace stallscope::trainer {
namespace {

constexpr int kShift[kTopKRounds] = {21, 10, 0};
constexpr int kBits[kTopKRounds] = {11, 11, 10};
constexpr double kEpsilon = 1e-6;

template <typename T>
uint32_t key_at(const TopK<T>& it, size_t layer, size_t row, size_t feature) {
  const size_t statistic = layer * it.features + feature;
  const T value = it.pre[(layer * it.batch + row) * it.features + feature];
  return order_key(static_cast<float>((value - it.mean[statistic]) * it.scale[statistic]));
}

// body(layer, row, feature, key) for every element, in memory order.
template <typename T, typename Body>
void for_each_key(const TopK<T>& it, const Body& body) {
  for (size_t layer = 0; layer < it.layers; ++layer)
    for (size_t row = 0; row < it.batch; ++row)
      for (size_t feature = 0; feature < it.features; ++feature)
        body(layer, row, feature, key_at(it, layer, row, feature));
}

}  // namespace

uint32_t order_key(float value) {
  if (std::isnan(value)) return 0;
  const auto bits = std::bit_cast<uint32_t>(value == 0 ? 0.0F : value);  // -0 equals 0
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

template <typename T>
void top_k_statistics(const TopK<T>& it) {
  const auto n = static_cast<T>(it.batch);
  std::fill_n(it.mean, it.layers * it.features, T(0));
  std::fill_n(it.scale, it.layers * it.features, T(0));
  for (size_t layer = 0; layer < it.layers; ++layer) {
    T* const mean = it.mean + layer * it.features;
    T* const scale = it.scale + layer * it.features;
    const T* const pre = it.pre + layer * it.batch * it.features;
    for (size_t row = 0; row < it.batch; ++row)
      for (size_t f = 0; f < it.features; ++f) mean[f] += pre[row * it.features + f] / n;
    for (size_t row = 0; row < it.batch; ++row) {
      for (size_t f = 0; f < it.features; ++f) {
        const T centred = pre[row * it.features + f] - mean[f];
        scale[f] += centred * centred;
      }
    }
    for (size_t f = 0; f < it.features; ++f) {
      const T deviation = it.batch > 1 ? std::sqrt(scale[f] / (n - 1)) : T(0);
      scale[f] = 1 / (deviation + static_cast<T>(kEpsilon));
    }
  }
}

template <typename T>
void top_k_histogram(const TopK<T>& it, int round) {
  std::fill_n(it.counts, kTopKBins, 0);
  const auto threshold = std::bit_cast<uint32_t>(it.state[0]);
  const int above = kShift[round] + kBits[round];
  const uint32_t bins = (1U << kBits[round]) - 1;
  for_each_key(it, [&](size_t, size_t, size_t, uint32_t key) {
    if (round == 0 || key >> above == threshold >> above)
      ++it.counts[(key >> kShift[round]) & bins];
  });
}

void top_k_pick(int32_t* state, const int32_t* counts, int round, int32_t k) {
  int32_t left = round == 0 ? k : state[1];
  uint32_t bin = (1U << kBits[round]) - 1;
  while (bin > 0 && counts[bin] < left) left -= counts[bin--];
  const auto threshold = round == 0 ? 0U : std::bit_cast<uint32_t>(state[0]);
  state[0] = std::bit_cast<int32_t>(threshold | bin << kShift[round]);
  state[1] = left;
}

template <typename T>
void top_k_ties(const TopK<T>& it, size_t rank) {
  std::fill_n(it.counts, kTopKBins, 0);
  const auto threshold = std::bit_cast<uint32_t>(it.state[0]);
  for_each_key(it, [&](size_t, size_t, size_t, uint32_t key) {
    if (key == threshold) ++it.counts[rank];
  });
}

template <typename T>
void top_k_mask(const TopK<T>& it, size_t rank) {
  const auto threshold = std::bit_cast<uint32_t>(it.state[0]);
  int64_t left = it.state[1];
  for (size_t r = 0; r < rank; ++r) left -= it.counts[r];
  struct Tie {
    size_t feature, layer, row;
  };
  std::vector<Tie> ties;
  for_each_key(it, [&](size_t layer, size_t row, size_t feature, uint32_t key) {
    it.mask[(layer * it.batch + row) * it.features + feature] = key > threshold ? T(1) : T(0);
    if (key == threshold) ties.push_back({feature, layer, row});
  });
  std::ranges::stable_sort(ties, [](const Tie& a, const Tie& b) {
    return a.feature != b.feature ? a.feature < b.feature : a.layer < b.layer;
  });
  for (size_t i = 0; i < ties.size() && static_cast<int64_t>(i) < left; ++i)
    it.mask[(ties[i].layer * it.batch + ties[i].row) * it.features + ties[i].feature] = T(1);
}

#define STALLSCOPE_TOP_K(T)                              \
  template void top_k_statistics<T>(const TopK<T>&);     \
  template void top_k_histogram<T>(const TopK<T>&, int); \
  template void top_k_ties<T>(const TopK<T>&, size_t);   \
  template void top_k_mask<T>(const TopK<T>&, size_t);
STALLSCOPE_TOP_K(float)
STALLSCOPE_TOP_K(double)
#undef STALLSCOPE_TOP_K

}  // namespace stallscope::trainer
