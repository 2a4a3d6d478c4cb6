#include "trainer/ops/selection.h"

#include <algorithm>
#include <utility>

namespace stallscope::trainer {
namespace {

constexpr int kPasses = 4;
constexpr int kRadixBits = 8;
constexpr size_t kRadixBins = 1U << kRadixBits;

Work pass_over(size_t elements, size_t bytes_each, double flops_each = 1) {
  const auto n = static_cast<double>(elements);
  return {.flops = n * flops_each, .bytes = n * static_cast<double>(bytes_each)};
}

size_t digit(uint64_t pair, int pass) {
  return (pair >> (32 + pass * kRadixBits)) & (kRadixBins - 1);
}

// Pairs in the order of ties (feature, layer, token), keys inverted so that the largest comes
// first: a stable sort then leaves equal keys in that order.
void make_pairs(uint64_t* pairs, const TopK<float>& it) {
  for (size_t feature = 0; feature < it.features; ++feature) {
    for (size_t layer = 0; layer < it.layers; ++layer) {
      const size_t statistic = layer * it.features + feature;
      for (size_t row = 0; row < it.batch; ++row) {
        const size_t at = (layer * it.batch + row) * it.features + feature;
        const uint32_t key = order_key((it.pre[at] - it.mean[statistic]) * it.scale[statistic]);
        *pairs++ = static_cast<uint64_t>(~key) << 32 | at;
      }
    }
  }
}

void scatter(uint64_t* to, const uint64_t* from, int32_t* starts, size_t size, int pass) {
  for (size_t i = 0; i < size; ++i) to[starts[digit(from[i], pass)]++] = from[i];
}

}  // namespace

Selection::Selection(Device& device, size_t layers, size_t batch, size_t features)
    : layers_(layers),
      batch_(batch),
      features_(features),
      mean_(device, layers * features),
      scale_(device, layers * features),
      state_(device, 2),
      counts_(device, kTopKBins),
      pairs_(device, layers * batch * features),
      sorted_(device, layers * batch * features) {}

TopK<float> Selection::of(const float* pre, float* mask) const {
  return {.layers = layers_,
          .batch = batch_,
          .features = features_,
          .pre = pre,
          .mean = mean_.data(),
          .scale = scale_.data(),
          .state = state_.data(),
          .counts = counts_.data(),
          .mask = mask};
}

void Selection::select(Stream& stream, const TopK<float>& it, size_t k) {
  const size_t size = layers_ * batch_ * features_;
  const auto take = static_cast<int32_t>(std::min(k, size));
  stream.launch("feature_statistics_kernel", pass_over(size, 8, 5), [it] { top_k_statistics(it); });
  for (int round = 0; round < kTopKRounds; ++round) {
    stream.launch("top_k_histogram_kernel", pass_over(size, 4, 4),
                  [it, round] { top_k_histogram(it, round); });
    stream.launch("top_k_pick_kernel", pass_over(kTopKBins, 4),
                  [it, round, take] { top_k_pick(it.state, it.counts, round, take); });
  }
  stream.launch("top_k_ties_kernel", pass_over(size, 4, 4), [it] { top_k_ties(it, 0); });
  stream.launch("top_k_mask_kernel", pass_over(size, 8, 4), [it] { top_k_mask(it, 0); });
}

void Selection::sort(Stream& stream, const TopK<float>& it, size_t k) {
  const size_t size = layers_ * batch_ * features_;
  stream.launch("feature_statistics_kernel", pass_over(size, 8, 5), [it] { top_k_statistics(it); });
  stream.launch("make_pairs_kernel", pass_over(size, 12, 4),
                [it, this] { make_pairs(pairs_.data(), it); });
  for (int pass = 0; pass < kPasses; ++pass) {
    uint64_t* const from = pass % 2 == 0 ? pairs_.data() : sorted_.data();
    uint64_t* const to = pass % 2 == 0 ? sorted_.data() : pairs_.data();
    int32_t* const counts = counts_.data();
    stream.launch("radix_sort_histogram_kernel", pass_over(size, 8), [=] {
      std::fill_n(counts, kRadixBins, 0);
      for (size_t i = 0; i < size; ++i) ++counts[digit(from[i], pass)];
    });
    stream.launch("radix_sort_scan_kernel", pass_over(kRadixBins, 8), [=] {
      int32_t start = 0;
      for (size_t bin = 0; bin < kRadixBins; ++bin) start += std::exchange(counts[bin], start);
    });
    // Scattered stores reach about a quarter of the memory's rate.
    stream.launch("radix_sort_scatter_kernel", pass_over(size, 8 + 4 * 8),
                  [=] { scatter(to, from, counts, size, pass); });
  }
  static_assert(kPasses % 2 == 0, "the result ends where it began");
  const size_t take = std::min(k, size);
  stream.launch("mask_scatter_kernel", pass_over(size, 4), [=, this] {
    std::fill_n(it.mask, size, 0.0F);
    for (size_t i = 0; i < take; ++i) it.mask[pairs_.data()[i] & 0xffffffffU] = 1.0F;
  });
}

void join_features(Stream& stream, float* whole, const float* shards, size_t rows, size_t features,
                   size_t ranks) {
  stream.launch("concatenate_kernel", pass_over(rows * features, 8), [=] {
    const size_t part = features / ranks;
    for (size_t r = 0; r < ranks; ++r)
      for (size_t row = 0; row < rows; ++row)
        std::copy_n(shards + (r * rows + row) * part, part, whole + row * features + r * part);
  });
}

void take_features(Stream& stream, float* shard, const float* whole, size_t rows, size_t features,
                   size_t rank, size_t ranks) {
  stream.launch("slice_kernel", pass_over(rows * features / ranks, 8), [=] {
    const size_t part = features / ranks;
    for (size_t row = 0; row < rows; ++row)
      std::copy_n(whole + row * features + rank * part, part, shard + row * part);
  });
}

}  // namespace stallscope::trainer
