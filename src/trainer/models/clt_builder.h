// What the dense and the sparse form of the transcoder have in common.
#pragma once

#include <string>
#include <vector>

#include "trainer/models/clt.h"

namespace stallscope::trainer {

class CltBuilder {
 public:
  CltBuilder(const CltConfig& config, Shard shard)
      : c_(config),
        b_(shard),
        local_(config.features / static_cast<size_t>(shard.size)),
        whole_batch_(config.batch * static_cast<size_t>(shard.replicas)) {}
  Program build();

 private:
  static int64_t as_int(size_t n) { return static_cast<int64_t>(n); }
  /// The part of a [layers, ...] tensor that belongs to one layer.
  std::vector<TensorId> slices(const std::string& name, TensorId whole, size_t columns);
  void product(TensorId a, bool transpose_a, TensorId b, bool transpose_b, TensorId base,
               TensorId out, size_t m, size_t n, size_t k);
  void column_sum(TensorId x, TensorId parameter, size_t columns);
  void encode();
  void add_decoder_bias(const std::vector<TensorId>& outputs);
  void reconstruction_loss(TensorId outputs);
  void encode_backward(const std::vector<TensorId>& pre_gradient);

  void select_mask();
  void decode_dense();
  void decode_dense_backward();

  /// A list of entries: numbers, values, and how many there may be.
  struct List {
    TensorId numbers = kNoTensor, values = kNoTensor, gradient = kNoTensor;
    size_t room = 0, expected = 0;
  };
  List new_list(const std::string& name, size_t room, size_t expected);
  void sparse_op(OpKind kind, const List& list, Operands<10> in, Operands<4> out,
                 std::array<int64_t, 4> n = {}, std::array<double, 2> f = {});
  List select_of_batch();
  List select_of_tokens(const std::string& name, size_t k, TensorId taking_part, TensorId idle);
  List select_above_threshold();
  void track_activity(const List& list);
  void select_entries();
  void decode_sparse();
  void decode_sparse_backward();
  void statistics();
  /// Over the ranks of this replica and over replicas.
  void sum_over_all(TensorId counts);
  /// A number of this rank among all of all replicas.
  int64_t place_among_all() const {
    return int64_t{b_.shard().rank} * b_.shard().replicas + b_.shard().replica;
  }
  bool has_penalty() const { return c_.activation != CltActivation::batch_top_k; }
  bool has_auxiliary() const { return c_.auxiliary_k > 0; }

  CltConfig c_;
  Builder b_;
  size_t local_;        ///< features of this rank
  size_t whole_batch_;  ///< tokens of all replicas
  std::vector<TensorId> inputs_, pre_, active_, error_;
  std::vector<TensorId> encoder_, encoder_bias_, decoder_, decoder_bias_;
  TensorId targets_ = kNoTensor, pre_whole_ = kNoTensor, mask_ = kNoTensor, mean_ = kNoTensor,
           scale_ = kNoTensor, threshold_ = kNoTensor, pre_values_ = kNoTensor, idle_ = kNoTensor,
           dead_ = kNoTensor, pull_ = kNoTensor, outputs_ = kNoTensor, losses_ = kNoTensor,
           auxiliary_error_ = kNoTensor;
  List list_, auxiliary_;
};

}  // namespace stallscope::trainer
