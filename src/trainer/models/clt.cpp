#include "trainer/models/clt.h"

#include <cmath>
#include <limits>

#include "trainer/models/clt_builder.h"
#include "trainer/ops/top_k.h"

namespace stallscope::trainer {

Program CltBuilder::build() {
  encode();
  if (c_.sparse) {
    select_entries();
    decode_sparse();
    decode_sparse_backward();
  } else {
    select_mask();
    decode_dense();
    decode_dense_backward();
  }
  b_.adamw();
  return b_.finish();
}

std::vector<TensorId> CltBuilder::slices(const std::string& name, TensorId whole, size_t columns) {
  std::vector<TensorId> parts;
  for (size_t l = 0; l < c_.layers; ++l)
    parts.push_back(b_.view(name + "." + std::to_string(l), whole, l * c_.batch * columns,
                            {c_.batch, columns}));
  return parts;
}

void CltBuilder::product(TensorId a, bool transpose_a, TensorId b, bool transpose_b, TensorId base,
                         TensorId out, size_t m, size_t n, size_t k) {
  b_.add({.kind = OpKind::gemm,
          .in = {a, b, base},
          .out = {out},
          .n = {as_int(m), as_int(n), as_int(k), transpose_a, transpose_b}});
}

void CltBuilder::column_sum(TensorId x, TensorId parameter, size_t columns) {
  b_.add({.kind = OpKind::column_sum,
          .in = {x},
          .out = {b_.tensor(parameter).gradient},
          .n = {as_int(c_.batch), as_int(columns)}});
}

void CltBuilder::encode() {
  b_.begin_section("encode");
  const size_t rows = c_.layers * c_.batch;
  const auto layers = static_cast<double>(c_.layers), width = static_cast<double>(c_.width);
  const Init encoder{Init::Kind::uniform, 1 / std::sqrt(static_cast<double>(c_.features))};
  const Init decoder{Init::Kind::uniform, 1 / std::sqrt(layers * width)};
  inputs_ = slices("inputs", b_.input("inputs", {rows, c_.width}, Element::real), c_.width);
  targets_ = b_.input("targets", {rows, c_.width}, Element::real);
  pre_whole_ = b_.activation("pre", {c_.layers, c_.batch, local_});
  pre_ = slices("pre", pre_whole_, local_);
  for (size_t l = 0; l < c_.layers; ++l) {
    const std::string name = "encoder." + std::to_string(l);
    encoder_.push_back(b_.parameter(name + ".weight", {c_.width, c_.features}, encoder, false));
    encoder_bias_.push_back(b_.parameter(name + ".bias", {c_.features}, {}, false));
    product(inputs_[l], false, encoder_[l], false, kNoTensor, pre_[l], c_.batch, local_, c_.width);
    b_.add({.kind = OpKind::bias_add,
            .in = {pre_[l], encoder_bias_[l]},
            .out = {pre_[l]},
            .n = {as_int(c_.batch), as_int(local_)}});
  }
  // A feature's rows for all its targets lie together.
  for (size_t s = 0; s < c_.layers; ++s)
    decoder_.push_back(b_.parameter("decoder." + std::to_string(s),
                                    {c_.features, c_.layers - s, c_.width}, decoder, false));
  for (size_t t = 0; t < c_.layers; ++t)
    decoder_bias_.push_back(
        b_.parameter("decoder.bias." + std::to_string(t), {c_.width}, {}, false));
}

void CltBuilder::statistics() {
  const size_t features = c_.layers * local_;
  const TensorId both = b_.activation("top_k.statistics", {2 * features});
  mean_ = b_.view("top_k.mean", both, 0, {c_.layers, local_});
  scale_ = b_.view("top_k.scale", both, features, {c_.layers, local_});
  const int replicas = b_.shard().replicas;
  b_.add({.kind = OpKind::top_k_statistics,
          .in = {pre_whole_, mean_, scale_},
          .n = {as_int(c_.layers), as_int(c_.batch), as_int(local_), replicas > 1}});
  if (replicas == 1) return;
  b_.add({.kind = OpKind::merge_statistics,
          .in = {b_.gather_replicas("top_k.statistics.all", both)},
          .out = {mean_, scale_},
          .n = {as_int(features), replicas, as_int(c_.batch)}});
}

void CltBuilder::sum_over_all(TensorId counts) {
  b_.all_reduce(counts);
  b_.sum_replicas(counts);
}

void CltBuilder::select_mask() {
  b_.begin_section("select");
  statistics();
  const TensorId state = b_.activation("top_k.state", {2}, Element::index);
  const TensorId counts = b_.activation("top_k.counts", {kTopKBins}, Element::index);
  mask_ = b_.activation("mask", {c_.layers, c_.batch, local_});
  auto step = [&](OpKind kind, int64_t argument) {
    b_.add({.kind = kind,
            .in = {pre_whole_, mean_, scale_, state, counts},
            .out = {mask_},
            .n = {as_int(c_.layers), as_int(c_.batch), as_int(local_), 0, argument}});
  };
  const size_t total = c_.layers * whole_batch_ * c_.features;
  for (int round = 0; round < kTopKRounds; ++round) {
    step(OpKind::top_k_histogram, round);
    sum_over_all(counts);
    b_.add({.kind = OpKind::top_k_pick,
            .in = {counts},
            .out = {state},
            .n = {0, 0, 0, as_int(std::min(c_.k * whole_batch_, total)), round}});
  }
  step(OpKind::top_k_ties, place_among_all());
  sum_over_all(counts);
  step(OpKind::top_k_mask, place_among_all());
}

void CltBuilder::add_decoder_bias(const std::vector<TensorId>& outputs) {
  for (size_t t = 0; t < c_.layers; ++t)
    b_.add({.kind = OpKind::bias_add,
            .in = {outputs[t], decoder_bias_[t]},
            .out = {outputs[t]},
            .n = {as_int(c_.batch), as_int(c_.width)}});
}

void CltBuilder::reconstruction_loss(TensorId outputs) {
  const size_t rows = c_.layers * c_.batch;
  losses_ = b_.activation("loss.rows", {rows});
  const TensorId error = b_.activation("outputs.gradient", {rows, c_.width});
  error_ = slices("outputs.gradient", error, c_.width);
  b_.add({.kind = OpKind::mean_squared_error,
          .in = {outputs, targets_},
          .out = {error, losses_},
          .n = {as_int(rows), as_int(c_.width)},
          .f = {1 / static_cast<double>(whole_batch_ * c_.width)}});
}

void CltBuilder::decode_dense() {
  b_.begin_section("decode");
  const TensorId active = b_.activation("active", {c_.layers, c_.batch, local_});
  active_ = slices("active", active, local_);
  b_.add({.kind = OpKind::multiply,
          .in = {pre_whole_, mask_},
          .out = {active},
          .n = {as_int(c_.layers * c_.batch * local_)}});
  const TensorId whole = b_.activation("outputs", {c_.layers * c_.batch, c_.width});
  for (size_t s = 0; s < c_.layers; ++s) {
    const size_t columns = (c_.layers - s) * c_.width;
    const TensorId part = b_.activation("outputs.from." + std::to_string(s), {c_.batch, columns});
    product(active_[s], false, decoder_[s], false, kNoTensor, part, c_.batch, columns, local_);
    for (size_t t = s; t < c_.layers && c_.reduce_each_decoder; ++t)
      b_.all_reduce(b_.view("outputs.from." + std::to_string(s) + ".part." + std::to_string(t),
                            part, (t - s) * c_.batch * c_.width, {c_.batch * c_.width}));
    b_.add({.kind = OpKind::add_targets,
            .in = {part},
            .out = {whole},
            .n = {as_int(c_.layers), as_int(c_.batch), as_int(c_.width), as_int(s)}});
  }
  if (!c_.reduce_each_decoder) b_.all_reduce(whole);
  add_decoder_bias(slices("outputs", whole, c_.width));
  reconstruction_loss(whole);
  const TensorId loss = b_.activation("loss", {1});
  b_.add(
      {.kind = OpKind::sum, .in = {losses_}, .out = {loss}, .n = {as_int(c_.layers * c_.batch)}});
  b_.sum_replicas(loss);
}

void CltBuilder::decode_dense_backward() {
  b_.begin_section("decode.backward");
  const TensorId whole = b_.activation("active.gradient", {c_.layers, c_.batch, local_});
  const std::vector<TensorId> gradient = slices("active.gradient", whole, local_);
  for (size_t s = 0; s < c_.layers; ++s) {
    const size_t columns = (c_.layers - s) * c_.width;
    const TensorId part = b_.activation("errors.of." + std::to_string(s), {c_.batch, columns});
    b_.add({.kind = OpKind::take_targets,
            .in = {error_[0]},
            .out = {part},
            .n = {as_int(c_.layers), as_int(c_.batch), as_int(c_.width), as_int(s)}});
    product(active_[s], true, part, false, kNoTensor, b_.tensor(decoder_[s]).gradient, local_,
            columns, c_.batch);
    product(part, false, decoder_[s], true, kNoTensor, gradient[s], c_.batch, local_, columns);
    column_sum(error_[s], decoder_bias_[s], c_.width);
  }
  // Nothing flows back through the selection itself.
  b_.add({.kind = OpKind::multiply,
          .in = {whole, mask_},
          .out = {whole},
          .n = {as_int(c_.layers * c_.batch * local_)}});
  encode_backward(gradient);
}

void CltBuilder::encode_backward(const std::vector<TensorId>& pre_gradient) {
  b_.begin_section("encode.backward");
  for (size_t l = 0; l < c_.layers; ++l) {
    product(inputs_[l], true, pre_gradient[l], false, kNoTensor, b_.tensor(encoder_[l]).gradient,
            c_.width, local_, c_.batch);
    column_sum(pre_gradient[l], encoder_bias_[l], local_);
  }
}

Result<Program> build_clt(const CltConfig& config, Shard shard) {
  for (const size_t n : {config.layers, config.width, config.features, config.batch, config.k})
    if (n == 0) return Error{.message = "layers, width, features, batch and k must be positive"};
  if (config.features % static_cast<size_t>(shard.size) != 0)
    return Error{.message = "features (" + std::to_string(config.features) +
                            ") must be a multiple of the ranks (" + std::to_string(shard.size) +
                            ")"};
  const size_t replicas = static_cast<size_t>(shard.replicas);
  if (static_cast<size_t>(shard.size) * replicas > kTopKBins)
    return Error{.message = "at most " + std::to_string(kTopKBins) + " ranks"};
  size_t elements = config.layers * replicas;
  if (__builtin_mul_overflow(elements, config.batch, &elements) ||
      __builtin_mul_overflow(elements, config.features, &elements) ||
      elements > std::numeric_limits<int32_t>::max())
    return Error{.message = "layers * batch * features must stay below 2^31"};
  const size_t most = config.layers * config.features;
  if (config.activation != CltActivation::jump_relu && config.k > most)
    return Error{.message = "k (" + std::to_string(config.k) +
                            ") must be at most layers * features (" + std::to_string(most) +
                            "): a token has no more"};
  if (!config.sparse && config.activation != CltActivation::batch_top_k)
    return Error{.message = "the dense decoder goes with BatchTopK only"};
  return CltBuilder(config, shard).build();
}

}  // namespace stallscope::trainer
