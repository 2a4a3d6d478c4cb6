// Top-k selections that a program launches itself, outside any Program.
#pragma once

#include <cstdint>

#include "trainer/device/device.h"
#include "trainer/ops/top_k.h"

namespace stallscope::trainer {

/// Memory of a selection over whole tensors (all features on this device).
class Selection {
 public:
  Selection(Device& device, size_t layers, size_t batch, size_t features);
  /// The selection's view of `pre` and `mask`, both [layers, batch, features].
  TopK<float> of(const float* pre, float* mask) const;

  /// Marks the k largest z-scores by histograms: no element is moved.
  void select(Stream& stream, const TopK<float>& it, size_t k);
  /// The same mask by sorting every z-score with its index and taking the first k.
  void sort(Stream& stream, const TopK<float>& it, size_t k);

 private:
  size_t layers_, batch_, features_;
  Buffer<float> mean_, scale_;
  Buffer<int32_t> state_, counts_;
  Buffer<uint64_t> pairs_, sorted_;  ///< key above, place in memory below
};

/// whole[row] = the shards' rows one after another; shards are [ranks][rows, features / ranks].
void join_features(Stream& stream, float* whole, const float* shards, size_t rows, size_t features,
                   size_t ranks);
/// shard = the columns of rank `rank`.
void take_features(Stream& stream, float* shard, const float* whole, size_t rows, size_t features,
                   size_t rank, size_t ranks);

}  // namespace stallscope::trainer
