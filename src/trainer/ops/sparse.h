// Operations on a transcoder's active features: lists of entries built, decoded
// and differentiated. Everything is deterministic: each output has one owner that
// sums in the order of the list.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainer/ops/sparse_list.h"

namespace stallscope::trainer {

/// Fills column_start, row and entry from row_start and feature.
template <typename T>
void reverse_index(const SparseList<T>& list, int team);

/// The k largest elements of each token (over layers and features), by z-score or by value.
template <typename T>
struct TokenTopK {
  size_t layers, batch, features;
  size_t k;
  const T* pre;
  const T *mean, *scale;       ///< null: by value
  const int32_t* idle;         ///< null, or steps since each feature was active
  int32_t idle_from;           ///< only features idle for that long take part
  const int32_t* taking_part;  ///< null, or their number over all ranks: no more are kept
  int32_t* keys;               ///< [ranks, batch, k]: each rank's best, zero where there are none
  int32_t* places;             ///< [batch, k]: layer * features + feature of this rank's, ascending
  size_t rank, ranks;
  int team;
};
/// int32 elements of scratch memory per thread.
inline size_t token_top_k_scratch(size_t layers, size_t features, size_t k, size_t ranks) {
  const size_t selecting = 2 * layers * features, listing = k * ranks;
  return selecting > listing ? selecting : listing;
}
/// Writes this rank's keys and places; the other ranks' keys become zero, to be summed. NaN is
/// never kept.
template <typename T>
void token_top_k(const TokenTopK<T>& it, int32_t* scratch);
/// From all ranks' keys: this rank's entries. Ties are taken in the order (feature, layer).
template <typename T>
void token_top_k_list(const TokenTopK<T>& it, const SparseList<T>& list, int32_t* scratch);

/// JumpReLU: entries whose value is above threshold - bandwidth / 2. value = x where x is above the
/// threshold, else 0; x itself goes to `pre_value`. `threshold` is [layers, features].
template <typename T>
void jump_list(const T* pre, const T* threshold, T bandwidth, const SparseList<T>& list,
               T* pre_value, int team);
/// d threshold = sum of d value * -x / bandwidth where x lies within the band around it; d value
/// becomes zero where the value is not above its threshold. `threshold` is [layers, features].
template <typename T>
void threshold_gradient(const SparseList<T>& list, const T* pre_value, const T* threshold,
                        T bandwidth, T* value_gradient, T* gradient);

/// 1 for each feature with a value that is not zero, else 0; [layers, features].
template <typename T>
void active_features(const SparseList<T>& list, int32_t* active);
/// Steps since each of `count` features was active (0: in this one); returns how many have been
/// idle for more than `dead_after`.
int32_t feature_activity(const int32_t* active, size_t count, int32_t* idle, int32_t dead_after);

/// outputs[t] (+)= sum over entries of layer `source` of value * decoder[feature, t - source].
/// outputs is [layers, batch, width], decoder [features, layers - source, width].
template <typename T>
void sparse_decode(const SparseList<T>& list, const T* decoder, T* outputs, size_t width,
                   size_t source, int team);

/// The other way: value_gradient[e] += errors . decoder, decoder_gradient (+)= value * errors.
/// `pull`, unless null, is [layers, features]: decoder_gradient += pull * decoder first.
template <typename T>
struct SparseDecodeBackward {
  const T* decoder;
  const T* errors;  ///< [layers, batch, width]
  const T* pull;
  T* value_gradient;
  T* decoder_gradient;
  size_t width, source;
  bool add;  ///< to the decoder's gradient; else it is set
  int team;
};
template <typename T>
void sparse_decode_backward(const SparseList<T>& list, const SparseDecodeBackward<T>& it);

/// factor * sum of tanh(c * norm(decoder of the feature) * value) over the entries of a layer;
/// value_gradient is set, pull becomes what the decoder is to be multiplied by in its gradient.
template <typename T>
T sparse_penalty(const SparseList<T>& list, const T* decoder, size_t width, size_t source, T factor,
                 T c, T* value_gradient, T* pull, int team);

/// factor * sum of max(-x, 0) over `count` elements, summed in pieces of fixed size; x becomes its
/// gradient. `partial` holds preactivation_pieces(count) elements.
template <typename T>
T preactivation_penalty(T* x, size_t count, T factor, T* partial, int team);
constexpr size_t kPenaltyPiece = 1U << 15;
constexpr size_t preactivation_pieces(size_t count) {
  return (count + kPenaltyPiece - 1) / kPenaltyPiece;
}

/// x[row, feature] += gradient of each entry.
template <typename T>
void sparse_scatter(const SparseList<T>& list, const T* value_gradient, T* x, int team);

}  // namespace stallscope::trainer
