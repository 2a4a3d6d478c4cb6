// Exact top-k selection over a batch whose features are spread over ranks.
//
// Elements are ranked by z-score per feature, as order-preserving 32-bit keys.
// Three histograms of 11, 11 and 10 bits, summed over the ranks, give the key of
// the k-th largest exactly; elements with that very key are taken in the order
// (feature, layer, token) until k are reached. Feature shards are contiguous, so
// rank by rank: the mask is the same for every number of ranks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stallscope::trainer {

inline constexpr int kTopKRounds = 3;
inline constexpr size_t kTopKBins = 2048;

/// pre and mask are [layers, batch, features]; mean and scale [layers, features].
template <typename T>
struct TopK {
  size_t layers, batch, features;
  const T* pre;
  T *mean, *scale;
  int32_t* state;   ///< {threshold key so far, elements still to be taken}
  int32_t* counts;  ///< a histogram of kTopKBins, or ties by rank
  T* mask;
};

/// The key of a value: larger values have larger keys; NaN is below everything.
uint32_t order_key(float value);

/// Mean and 1 / (standard deviation + 1e-6) of each feature over the batch.
template <typename T>
void top_k_statistics(const TopK<T>& it);
/// Counts, by the bits of round `round`, the elements that agree with the threshold so far.
template <typename T>
void top_k_histogram(const TopK<T>& it, int round);
/// Extends the threshold by the bits of the bin that holds the k-th largest element.
void top_k_pick(int32_t* state, const int32_t* counts, int round, int32_t k);
/// counts[rank] = this rank's elements at the threshold; the others' entries are zero.
template <typename T>
void top_k_ties(const TopK<T>& it, size_t rank);
/// Marks what is above the threshold, and this rank's share of what is at it.
template <typename T>
void top_k_mask(const TopK<T>& it, size_t rank);

}  // namespace stallscope::trainer
