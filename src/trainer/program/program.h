// Program: one training step as data, built once, executed by a device. Typed
// operations on tensors with shapes, in order, each on a stream and after the
// operations it waits for. The same form serves CPU streams and a captured graph.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace stallscope::trainer {

using TensorId = uint32_t;
inline constexpr TensorId kNoTensor = ~0U;

/// What a tensor is for: each role has an arena of its own.
enum class Role : uint8_t { parameter, gradient, activation, input, constant };
/// real: the program's precision; index: int32; bf16: what products read in that precision.
enum class Element : uint8_t { real, index, bf16 };

/// How a parameter starts. Values depend on name, position in the whole tensor and seed alone,
/// so that every tensor-parallel layout starts from the same model.
struct Init {
  enum class Kind : uint8_t { zeros, ones, constant, normal, uniform };
  Kind kind = Kind::zeros;
  double scale = 0;  ///< the constant, standard deviation, or half-width
};

struct TensorInfo {
  std::string name;
  std::vector<size_t> shape;  ///< of this rank's part
  Role role = Role::activation;
  Element element = Element::real;
  size_t offset = 0;  ///< elements from the start of the role's arena

  // Parameters only.
  std::vector<size_t> full_shape{};
  int shard_dimension = -1;  ///< -1: every rank holds the whole
  Init init{};
  bool decays = false;  ///< takes part in weight decay
  TensorId gradient = kNoTensor;

  bool is_bucket = false;  ///< of gradients: lies over those of several parameters
  bool saved = false;      ///< state beside the parameters (int32), kept in checkpoints

  size_t size() const {
    size_t product = 1;
    for (const size_t n : shape) product *= n;
    return product;
  }
  /// Elements of the arena it takes: two of bf16 share one (of 4 bytes), the end is rounded to
  /// whole cache lines, so that no two tensors share one between threads.
  size_t room() const {
    constexpr size_t kLine = 16;
    const size_t count = element == Element::bf16 ? (size() + 1) / 2 : size();
    return (count + kLine - 1) / kLine * kLine;
  }
};

/// Whether two tensors share memory.
inline bool overlap(const TensorInfo& a, const TensorInfo& b) {
  return a.role == b.role && a.offset < b.offset + b.room() && b.offset < a.offset + a.room();
}

enum class OpKind : uint8_t {
  gemm,
  gelu_forward,
  gelu_backward,
  bias_add,
  column_sum,
  add,
  layer_norm_forward,
  layer_norm_backward,
  attention_forward,
  attention_backward,
  embedding_forward,
  embedding_backward,
  gather_rows,
  scatter_rows,
  row_max,
  softmax_partial,
  cross_entropy,
  softmax_cross_entropy,
  sum,
  mean_squared_error,
  multiply,
  top_k_statistics,
  merge_statistics,
  top_k_histogram,
  top_k_pick,
  top_k_ties,
  top_k_mask,
  top_k_sample,
  top_k_survivors,
  top_k_list,
  token_top_k,
  token_top_k_list,
  jump_list,
  reverse_index,
  active_features,
  feature_activity,
  sparse_decode,
  sparse_decode_backward,
  sparse_penalty,
  preactivation_penalty,
  scaled_squared_error,
  combine_losses,
  sparse_scatter,
  threshold_gradient,
  add_targets,
  take_targets,
  convert,
  pack,
  all_reduce,
  all_gather,
  reduce_scatter,
  dropout,
  advance_counter,
  adamw,
};
inline constexpr size_t kOpKinds = static_cast<size_t>(OpKind::adamw) + 1;

/// Whether ranks exchange data in it. n[0] = elements of the whole (of a part, for an all_gather).
constexpr bool is_collective(OpKind kind) {
  return kind == OpKind::all_reduce || kind == OpKind::all_gather || kind == OpKind::reduce_scatter;
}

/// Which ranks a collective runs over (its n[2]): those that share the model's tensors, or the
/// replicas.
inline constexpr int64_t kTensorGroup = 0, kDataGroup = 1;

/// Streams of a program: computation, and communication beside it.
enum class StreamRole : uint8_t { compute, communication };

/// Up to N tensors; those not given are kNoTensor.
template <size_t N>
class Operands {
 public:
  Operands(std::initializer_list<TensorId> given = {}) {
    ids_.fill(kNoTensor);
    std::copy(given.begin(), given.end(), ids_.begin());
  }
  TensorId operator[](size_t i) const { return ids_[i]; }
  void set(size_t i, TensorId id) { ids_[i] = id; }
  static constexpr size_t size() { return N; }
  auto begin() const { return ids_.begin(); }
  auto end() const { return ids_.end(); }

 private:
  std::array<TensorId, N> ids_;
};

struct Op {
  OpKind kind{};
  StreamRole stream = StreamRole::compute;
  Operands<10> in{};
  Operands<4> out{};
  std::array<int64_t, 8> n{};     ///< sizes and switches; meaning by kind
  std::array<double, 2> f{};      ///< factors; meaning by kind
  std::vector<uint32_t> waits{};  ///< ops of the other stream that must be done before
  bool again = false;             ///< repeats work of the forward pass, to save memory
  std::string name{};             ///< of the kernel in recordings; empty: the kind's own
  bool fused = false;             ///< a copy of weights that the optimiser makes as it writes them
};

/// A contiguous run of ops with a name: "layer.0", "layer.0.backward", "optimizer".
struct Section {
  std::string name;
  uint32_t first = 0, last = 0;
};

struct Program {
  std::vector<TensorInfo> tensors;
  std::vector<Op> ops;
  std::vector<Section> sections;
  bool adds_gradients = false;  ///< backward passes add up until the optimiser has read the sum
  std::array<size_t, 5> arena_elements{};  ///< by Role; index inputs count as elements of 4 bytes

  const TensorInfo& tensor(TensorId id) const { return tensors[id]; }
  /// The tensor of that name, or kNoTensor.
  TensorId find(std::string_view name) const;
  /// The section of that name, or nullptr.
  const Section* section(std::string_view name) const;
  /// Parameters in order of their place in the arena.
  std::vector<TensorId> parameters() const;
};

}  // namespace stallscope::trainer
