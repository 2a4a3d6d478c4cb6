// The sparse form: active features as lists, only their decoder rows touched, all
// partial results of a rank summed over the group in one reduction.
#include <algorithm>

#include "trainer/models/clt_builder.h"
#include "trainer/ops/sparse.h"
#include "trainer/ops/top_k.h"

namespace stallscope::trainer {

CltBuilder::List CltBuilder::new_list(const std::string& name, size_t room, size_t expected) {
  const SparseShape shape{c_.layers, c_.batch, local_, room};
  return {.numbers = b_.activation(name + ".numbers", {shape.numbers()}, Element::index),
          .values = b_.activation(name + ".values", {room}),
          .gradient = b_.activation(name + ".values.gradient", {room}),
          .room = room,
          .expected = expected};
}

void CltBuilder::sparse_op(OpKind kind, const List& list, Operands<10> in, Operands<4> out,
                           std::array<int64_t, 4> n, std::array<double, 2> f) {
  b_.add({.kind = kind,
          .in = in,
          .out = out,
          .n = {as_int(c_.layers), as_int(c_.batch), as_int(local_), n[0], n[1], n[2], n[3],
                as_int(list.room)},
          .f = f});
}

CltBuilder::List CltBuilder::select_of_batch() {
  statistics();
  const size_t local = c_.layers * c_.batch * local_,
               total = c_.layers * whole_batch_ * c_.features;
  const auto ranks = static_cast<size_t>(b_.shard().size * b_.shard().replicas);
  const size_t k = std::min(c_.k * whole_batch_, total), room = survivor_room(k, local);
  const TensorId state = b_.activation("top_k.state", {4}, Element::index);
  const TensorId counts = b_.activation("top_k.counts", {kTopKBins}, Element::index);
  const TensorId survivors =
      b_.activation("top_k.survivors", {kSurvivorPieces * (1 + 2 * room)}, Element::index);
  const List list = new_list("list", std::min(k, local), k / ranks);
  auto step = [&](OpKind kind, int64_t argument, Operands<4> out) {
    sparse_op(kind, list, {pre_whole_, mean_, scale_, state, counts, survivors}, out,
              {as_int(k), argument, as_int(room), as_int(total)});
  };
  step(OpKind::top_k_sample, 0, {counts});
  sum_over_all(counts);
  step(OpKind::top_k_survivors, 0, {survivors, state, counts});
  sum_over_all(counts);
  for (int round = 0; round < kTopKRounds; ++round) {
    step(OpKind::top_k_histogram, round, {counts});
    sum_over_all(counts);
    b_.add({.kind = OpKind::top_k_pick,
            .in = {counts},
            .out = {state},
            .n = {0, 0, 0, as_int(k), round}});
  }
  step(OpKind::top_k_ties, place_among_all(), {counts});
  sum_over_all(counts);
  step(OpKind::top_k_list, place_among_all(), {list.numbers, list.values});
  return list;
}

CltBuilder::List CltBuilder::select_of_tokens(const std::string& name, size_t most,
                                              TensorId taking_part, TensorId idle) {
  const size_t k = std::min(most, c_.layers * c_.features);
  const auto ranks = static_cast<size_t>(b_.shard().size);
  const TensorId keys = b_.activation(name + ".keys", {ranks, c_.batch, k}, Element::index);
  const TensorId places = b_.activation(name + ".places", {c_.batch, k}, Element::index);
  const List list = new_list(name, c_.batch * std::min(k, c_.layers * local_),
                             taking_part == kNoTensor ? c_.batch * k / ranks : 0);
  const TensorId mean = idle == kNoTensor ? mean_ : kNoTensor;
  const TensorId scale = idle == kNoTensor ? scale_ : kNoTensor;
  sparse_op(OpKind::token_top_k, list, {pre_whole_, taking_part, mean, scale, idle}, {keys, places},
            {as_int(k), b_.shard().rank, b_.shard().size, as_int(c_.dead_after) + 1});
  b_.all_reduce(keys);
  sparse_op(OpKind::token_top_k_list, list, {pre_whole_, taking_part, keys, places},
            {list.numbers, list.values}, {as_int(k), b_.shard().rank, b_.shard().size});
  return list;
}

CltBuilder::List CltBuilder::select_above_threshold() {
  threshold_ = b_.parameter("threshold", {c_.layers, c_.features},
                            {Init::Kind::constant, c_.threshold}, false);
  const List list = new_list("list", c_.layers * c_.batch * local_, 0);
  pre_values_ = b_.activation("list.pre", {list.room});
  sparse_op(OpKind::jump_list, list, {pre_whole_, threshold_},
            {list.numbers, list.values, pre_values_}, {}, {c_.bandwidth});
  return list;
}

void CltBuilder::track_activity(const List& list) {
  idle_ = b_.state("features.idle", {c_.layers, c_.features}, 1);
  dead_ = b_.activation("features.dead", {1}, Element::index);
  const TensorId active = b_.activation("features.active", {c_.layers, local_}, Element::index);
  sparse_op(OpKind::active_features, list, {list.numbers, list.values}, {active});
  b_.sum_replicas(active);
  sparse_op(OpKind::feature_activity, list, {active}, {idle_, dead_}, {0, as_int(c_.dead_after)});
  b_.all_reduce(dead_);
}

void CltBuilder::select_entries() {
  b_.begin_section("select");
  switch (c_.activation) {
    case CltActivation::batch_top_k:
      list_ = select_of_batch();
      break;
    case CltActivation::token_top_k:
      statistics();
      list_ = select_of_tokens("list", c_.k, kNoTensor, kNoTensor);
      break;
    case CltActivation::jump_relu:
      list_ = select_above_threshold();
      break;
  }
  sparse_op(OpKind::reverse_index, list_, {list_.numbers, list_.values}, {list_.numbers});
  track_activity(list_);
  if (!has_auxiliary()) return;
  auxiliary_ = select_of_tokens("auxiliary", c_.auxiliary_k, dead_, idle_);
  sparse_op(OpKind::reverse_index, auxiliary_, {auxiliary_.numbers, auxiliary_.values},
            {auxiliary_.numbers});
}

void CltBuilder::decode_sparse() {
  b_.begin_section("decode");
  const size_t rows = c_.layers * c_.batch, each = rows * c_.width;
  // Everything that ranks have parts of lies together: one reduction.
  constexpr size_t kPenalties = 2;
  const size_t outputs = has_auxiliary() ? 2 : 1;
  const TensorId partial = b_.activation("partial", {outputs * each + kPenalties});
  outputs_ = b_.view("outputs", partial, 0, {rows, c_.width});
  const TensorId auxiliary =
      has_auxiliary() ? b_.view("outputs.auxiliary", partial, each, {rows, c_.width}) : kNoTensor;
  const TensorId sparsity = b_.view("loss.sparsity", partial, outputs * each, {1});
  const TensorId preactivation = b_.view("loss.preactivation", partial, outputs * each + 1, {1});
  const double inverse_batch = 1 / static_cast<double>(whole_batch_);
  if (has_penalty()) {
    const TensorId factor = b_.input("sparsity", {1}, Element::real);
    pull_ = b_.activation("list.pull", {c_.layers, local_});
    for (size_t s = 0; s < c_.layers; ++s)
      sparse_op(OpKind::sparse_penalty, list_, {list_.numbers, list_.values, decoder_[s], factor},
                {list_.gradient, pull_, sparsity},
                {as_int(c_.width), as_int(s), 0, as_int(list_.expected)},
                {c_.penalty_scale, inverse_batch});
  }
  for (size_t s = 0; s < c_.layers; ++s) {
    sparse_op(OpKind::sparse_decode, list_, {list_.numbers, list_.values, decoder_[s]}, {outputs_},
              {as_int(c_.width), as_int(s), 0, as_int(list_.expected)});
    if (has_auxiliary())
      sparse_op(OpKind::sparse_decode, auxiliary_,
                {auxiliary_.numbers, auxiliary_.values, decoder_[s]}, {auxiliary},
                {as_int(c_.width), as_int(s)});
  }
  // The last that reads pre-activations leaves their gradient in their place.
  const size_t elements = c_.layers * c_.batch * local_;
  b_.add({.kind = OpKind::preactivation_penalty,
          .in = {pre_whole_},
          .out = {pre_whole_, preactivation,
                  b_.activation("loss.preactivation.pieces", {preactivation_pieces(elements)}),
                  has_penalty() ? kNoTensor : sparsity},
          .n = {as_int(elements)},
          .f = {c_.preactivation / static_cast<double>(c_.layers * whole_batch_ * c_.features)}});
  b_.all_reduce(partial);
  add_decoder_bias(slices("outputs", outputs_, c_.width));
  reconstruction_loss(outputs_);
  TensorId auxiliary_losses = kNoTensor;
  if (has_auxiliary()) {
    auxiliary_error_ = b_.activation("outputs.auxiliary.gradient", {rows, c_.width});
    auxiliary_losses = b_.activation("loss.auxiliary.rows", {rows});
    b_.add({.kind = OpKind::scaled_squared_error,
            .in = {auxiliary, outputs_, targets_, dead_},
            .out = {auxiliary_error_, auxiliary_losses},
            .n = {as_int(rows), as_int(c_.width), as_int(c_.auxiliary_k)},
            .f = {c_.auxiliary / static_cast<double>(whole_batch_ * c_.width)}});
  }
  const TensorId loss = b_.activation("loss", {1}), parts = b_.activation("loss.parts", {4});
  b_.add({.kind = OpKind::combine_losses,
          .in = {losses_, auxiliary_losses, sparsity, preactivation},
          .out = {loss, parts},
          .n = {as_int(rows)}});
  b_.sum_replicas(loss);
  b_.sum_replicas(parts);
}

void CltBuilder::decode_sparse_backward() {
  b_.begin_section("decode.backward");
  for (size_t s = 0; s < c_.layers; ++s) {
    const TensorId weight_gradient = b_.tensor(decoder_[s]).gradient;
    sparse_op(OpKind::sparse_decode_backward, list_,
              {list_.numbers, list_.values, decoder_[s], error_[0], pull_,
               has_penalty() ? list_.gradient : kNoTensor},
              {list_.gradient, weight_gradient},
              {as_int(c_.width), as_int(s), 0, as_int(list_.expected)});
    if (has_auxiliary())
      sparse_op(OpKind::sparse_decode_backward, auxiliary_,
                {auxiliary_.numbers, auxiliary_.values, decoder_[s], auxiliary_error_},
                {auxiliary_.gradient, weight_gradient}, {as_int(c_.width), as_int(s), 1});
    column_sum(error_[s], decoder_bias_[s], c_.width);
  }
  if (c_.activation == CltActivation::jump_relu)
    sparse_op(OpKind::threshold_gradient, list_,
              {list_.numbers, list_.gradient, pre_values_, threshold_},
              {list_.gradient, b_.tensor(threshold_).gradient}, {}, {c_.bandwidth});
  sparse_op(OpKind::sparse_scatter, list_, {list_.numbers, list_.gradient, pre_whole_},
            {pre_whole_});
  if (has_auxiliary())
    sparse_op(OpKind::sparse_scatter, auxiliary_,
              {auxiliary_.numbers, auxiliary_.gradient, pre_whole_}, {pre_whole_});
  encode_backward(slices("pre.gradient", pre_whole_, local_));
}

}  // namespace stallscope::trainer
