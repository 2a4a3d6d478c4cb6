// Builder: writes a Program. Each layer function appends its forward ops and
// remembers how to append its backward ops; backward() then runs the memory in
// reverse, so a model is written once, forwards.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trainer/program/program.h"

namespace stallscope::trainer {

/// This rank's place in the tensor-parallel group.
struct Shard {
  int rank = 0;
  int size = 1;
  int replica = 0, replicas = 1;  ///< data-parallel copies of the group
  /// Sequence parallelism: between parallel blocks each rank has its part of the rows alone.
  bool splits_rows = false;
};

class Builder {
 public:
  explicit Builder(Shard shard = {}) : shard_(shard) {}

  Shard shard() const { return shard_; }
  const TensorInfo& tensor(TensorId id) const { return program_.tensors[id]; }

  /// Backward passes add to the gradients of parameters that are declared from here on; the
  /// optimiser leaves zeros.
  void add_gradients() { program_.adds_gradients = true; }

  /// Ops added from here on belong to section `name`.
  void begin_section(std::string name);

  // Tensors.
  TensorId input(std::string name, std::vector<size_t> shape, Element element);
  TensorId constant(std::string name, std::vector<size_t> shape);
  /// A parameter of `full_shape`, split over the group as the plan says for its name.
  TensorId parameter(std::string name, std::vector<size_t> full_shape, Init init, bool decays);
  /// int32 state that lives from step to step and is kept in checkpoints; split over the group
  /// along `shard_dimension`. Starts as zeros.
  TensorId state(std::string name, std::vector<size_t> full_shape, int shard_dimension = -1);
  TensorId activation(std::string name, std::vector<size_t> shape, Element element = Element::real);
  /// A part of `whole`, from element `offset` on, under a name and a shape of its own.
  TensorId view(std::string name, TensorId whole, size_t offset, std::vector<size_t> shape);

  // Layers. `x` is [rows, columns]; each returns its output.
  /// y = x W; W is [inputs, outputs] (trailing dimensions flattened).
  TensorId matmul(std::string name, TensorId x, TensorId weight);
  /// y = x W^T; for output heads that share the embedding's table.
  TensorId matmul_transposed(std::string name, TensorId x, TensorId weight);
  /// y = x + bias [+ residual].
  TensorId bias_add(std::string name, TensorId x, TensorId bias, TensorId residual = kNoTensor);
  TensorId gelu(std::string name, TensorId x, bool tanh_form);
  TensorId layer_norm(std::string name, TensorId x, TensorId gain, TensorId bias, double epsilon);
  /// qkv is [batch * sequence, 3, heads, head_size]; the mask is [sequence, sequence] or none.
  struct AttentionOptions {
    size_t batch, sequence, heads, head_size;  ///< heads of this rank
    bool causal;
    TensorId mask = kNoTensor;
    TensorId lengths = kNoTensor;  ///< [batch]: what lies behind is padding
    double dropout = 0;            ///< share of probabilities that are dropped
  };
  TensorId attention(std::string name, TensorId qkv, const AttentionOptions& options);
  /// y = residual + x with a share of its elements dropped; x is the same on every rank, or split
  /// rows.
  TensorId dropout(std::string name, TensorId x, double share, TensorId residual = kNoTensor);
  /// Rows of a vocabulary-sharded table, summed over the group.
  TensorId embedding(std::string name, TensorId table, TensorId tokens);
  /// Rows of x by number.
  TensorId gather_rows(std::string name, TensorId x, TensorId numbers);
  /// The mean cross-entropy of vocabulary-sharded logits; rows labelled -1 do not count.
  /// `counted` rows have a label. Returns a scalar.
  TensorId cross_entropy(std::string name, TensorId logits, TensorId labels, size_t counted);

  // Tensor parallelism (nothing when the group has one rank).
  /// Where each rank begins to have its own columns. Identity forwards, the gradient's sum over the
  /// group backwards; of split rows: all of them, each rank's part of the sum backwards.
  TensorId enter_parallel(TensorId x);
  /// Sums `x` over the group in place; no gradient.
  void all_reduce(TensorId x);
  /// Sums `x` over the replicas, in place; no gradient.
  void sum_replicas(TensorId x);
  /// Every replica's `x`, one after another; no gradient.
  TensorId gather_replicas(std::string name, TensorId x);
  /// Sums partial results over the group; identity backwards. Of split rows: each rank gets its
  /// part of the sum; backwards, all parts.
  TensorId leave_parallel(TensorId x);
  /// If the shard splits rows: from here on each rank has its part of them, and parameters that
  /// are replicated have partial gradients, which are summed after the backward pass.
  TensorId split_rows(TensorId x);
  /// The end of that: every rank has all rows and does the same with them.
  TensorId join_rows(TensorId x);

  /// Appends the backward ops of everything since the start, from the scalar `loss`.
  void backward(TensorId loss);
  /// Appends the AdamW update of every parameter as section "optimizer".
  void adamw();

  /// Lays out the arenas and hands the program over.
  Program finish();

  // For layers defined elsewhere.
  Op& add(Op op);
  void on_backward(std::function<void()> emit);
  /// The gradient of `x` so far, to be read; kNoTensor when nothing flowed back to it.
  TensorId gradient(TensorId x) const;
  /// Where an op writes x's gradient: {target, base}; base is what is already there (or none).
  struct Flow {
    TensorId target, base;
  };
  Flow flow_to(TensorId x);
  /// x's gradient is y's gradient, unchanged.
  void pass_gradient(TensorId x, TensorId y);
  size_t columns(TensorId x) const;
  size_t rows(TensorId x) const;

 private:
  struct Node {
    std::string section;
    std::function<void()> emit;
  };
  struct Gradient {
    TensorId tensor = kNoTensor;
    bool shared = false;  ///< another tensor's gradient too: not to be written
  };
  /// Replicas drop different elements of different data.
  int64_t next_dropout_site() {
    return (static_cast<int64_t>(shard_.replica) << 16) + ++dropout_sites_;
  }
  /// What changes from pass to pass, for dropout.
  TensorId pass_counter();
  TensorId add_tensor(TensorInfo info);
  TensorId product(std::string name, TensorId x, TensorId weight, bool transposed);
  void reduce_group(TensorId x, int64_t op);
  bool in_split_rows() const { return rows_are_split_ && !in_parallel_; }
  TensorId gather_parts(std::string name, TensorId part);
  void use_parameter(TensorId parameter);
  void sum_partial_gradients();

  Shard shard_;
  Program program_;
  std::vector<Node> tape_;
  std::map<TensorId, Gradient> gradients_;
  TensorId pass_counter_ = kNoTensor;
  int64_t dropout_sites_ = 0;
  bool rows_are_split_ = false, in_parallel_ = false;
  std::set<TensorId> partial_;  ///< parameters whose gradients ranks have parts of
  struct Alias {
    TensorId whole;
    size_t offset;
  };
  std::map<TensorId, Alias> aliases_;  ///< tensors that lie within another
};

}  // namespace stallscope::trainer
