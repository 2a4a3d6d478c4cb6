// Exact top-k selection over a batch whose features are spread over ranks.
//
// Elements are ranked by z-score per feature, as order-preserving 32-bit keys.
// Three histograms of 11, 11 and 10 bits, summed over the ranks, give the key of
// the k-th largest exactly; elements with that very key are taken in the order
// (feature, layer, token) until k are reached. Feature shards are contiguous, so
// rank by rank: the mask is the same for every number of ranks.
//
// Given room for survivors, the data is read twice: once for the statistics, once to collect what
// lies above a threshold guessed from a sample of all ranks. When no fewer than k survive, the
// histograms see survivors only; otherwise they see everything, so the result is exact always.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainer/ops/sparse_list.h"

namespace stallscope::trainer {

inline constexpr int kTopKRounds = 3;
inline constexpr size_t kTopKBins = 2048;
/// Survivors are kept in pieces of consecutive rows, so that threads share none.
inline constexpr size_t kSurvivorPieces = 32;

/// How much room survivors need: a little over what a sample lets pass.
constexpr size_t survivor_room(size_t k, size_t local_elements) {
  const size_t most = (local_elements + kSurvivorPieces - 1) / kSurvivorPieces;
  const size_t wanted = 4 * k / kSurvivorPieces + 64;
  return wanted < most ? wanted : most;
}

/// pre and mask are [layers, batch, features]; mean and scale [layers, features].
template <typename T>
struct TopK {
  size_t layers, batch, features;
  const T* pre;
  T *mean, *scale;
  int32_t* state;   ///< {threshold key so far, elements still to be taken, with survivors also:
                    ///< the key they start at, whether they are enough}
  int32_t* counts;  ///< a histogram of kTopKBins, or ties by rank
  T* mask = nullptr;
  /// Null, or kSurvivorPieces counts (-1: more than `room`), then as many pieces of `room` keys and
  /// `room` places.
  int32_t* survivors = nullptr;
  size_t room = 0;
  int team = 1;
};

/// The key of a value: larger values have larger keys; NaN is below everything.
uint32_t order_key(float value);

/// Mean and 1 / (standard deviation + 1e-6) of each feature over the batch; of a part of a batch,
/// the sum of squared deviations in place of the latter.
template <typename T>
void top_k_statistics(const TopK<T>& it, bool is_part = false);
/// The same of the whole batch, from `parts` parts of `batch` rows each: [parts, 2, features].
template <typename T>
void merge_statistics(const T* all, size_t parts, size_t batch, size_t features, T* mean, T* scale);
/// Counts, by the bits of round `round`, the elements that agree with the threshold so far.
template <typename T>
void top_k_histogram(const TopK<T>& it, int round);
/// Extends the threshold by the bits of the bin that holds the k-th largest element.
void top_k_pick(int32_t* state, const int32_t* counts, int round, int32_t k);
/// counts[rank] = this rank's elements at the threshold; the others' entries are zero. Replicas
/// count as ranks of their own here, those of one shard of features one after another.
template <typename T>
void top_k_ties(const TopK<T>& it, size_t rank);
/// counts = a histogram of the scores of about every 512th element.
template <typename T>
void top_k_sample(const TopK<T>& it);
/// From the sum of all ranks' samples, guesses a threshold that a little more than k of `total`
/// elements pass; collects this rank's; counts[0] = how many.
template <typename T>
void top_k_survivors(const TopK<T>& it, size_t k, size_t total);
/// From the sum of all ranks' counts: whether the survivors hold the k largest.
template <typename T>
void top_k_enough(const TopK<T>& it, size_t k);
/// Marks what is above the threshold, and this rank's share of what is at it.
template <typename T>
void top_k_mask(const TopK<T>& it, size_t rank);
/// The same as a list of entries, whose `columns` it uses as scratch first.
template <typename T>
void top_k_list(const TopK<T>& it, size_t rank, const SparseList<T>& list);

}  // namespace stallscope::trainer
