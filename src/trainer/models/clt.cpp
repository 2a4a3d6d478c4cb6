#include "trainer/models/clt.h"

#include <cmath>
#include <string>
#include <vector>

#include "trainer/ops/top_k.h"

namespace stallscope::trainer {
namespace {

int64_t as_int(size_t n) {
  return static_cast<int64_t>(n);
}

class Clt {
 public:
  Clt(const CltConfig& config, Shard shard)
      : c_(config), b_(shard), local_(config.features / static_cast<size_t>(shard.size)) {}

  Program build() {
    encode();
    select();
    decode();
    backward();
    b_.adamw();
    return b_.finish();
  }

 private:
  // The part of a [layers, ...] tensor that belongs to one layer.
  std::vector<TensorId> slices(const std::string& name, TensorId whole, size_t columns) {
    std::vector<TensorId> parts;
    for (size_t l = 0; l < c_.layers; ++l)
      parts.push_back(b_.view(name + "." + std::to_string(l), whole, l * c_.batch * columns,
                              {c_.batch, columns}));
    return parts;
  }

  void product(TensorId a, bool transpose_a, TensorId b, bool transpose_b, TensorId base,
               TensorId out, size_t m, size_t n, size_t k) {
    b_.add({.kind = OpKind::gemm,
            .in = {a, b, base},
            .out = {out},
            .n = {as_int(m), as_int(n), as_int(k), transpose_a, transpose_b}});
  }

  void encode() {
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
      product(inputs_[l], false, encoder_[l], false, kNoTensor, pre_[l], c_.batch, local_,
              c_.width);
      b_.add({.kind = OpKind::bias_add,
              .in = {pre_[l], encoder_bias_[l]},
              .out = {pre_[l]},
              .n = {as_int(c_.batch), as_int(local_)}});
    }
    for (size_t s = 0; s < c_.layers; ++s) {
      for (size_t t = s; t < c_.layers; ++t) {
        decoder_.push_back(b_.parameter("decoder." + std::to_string(s) + "." + std::to_string(t),
                                        {c_.features, c_.width}, decoder, false));
      }
    }
    for (size_t t = 0; t < c_.layers; ++t)
      decoder_bias_.push_back(
          b_.parameter("decoder.bias." + std::to_string(t), {c_.width}, {}, false));
  }

  void select() {
    b_.begin_section("select");
    const TensorId mean = b_.activation("top_k.mean", {c_.layers, local_});
    const TensorId scale = b_.activation("top_k.scale", {c_.layers, local_});
    const TensorId state = b_.activation("top_k.state", {2}, Element::index);
    const TensorId counts = b_.activation("top_k.counts", {kTopKBins}, Element::index);
    mask_ = b_.activation("mask", {c_.layers, c_.batch, local_});
    auto step = [&](OpKind kind, int64_t argument) {
      b_.add({.kind = kind,
              .in = {pre_whole_, mean, scale, state, counts},
              .out = {mask_},
              .n = {as_int(c_.layers), as_int(c_.batch), as_int(local_), 0, argument}});
    };
    const size_t total = c_.layers * c_.batch * c_.features;
    step(OpKind::top_k_statistics, 0);
    for (int round = 0; round < kTopKRounds; ++round) {
      step(OpKind::top_k_histogram, round);
      b_.all_reduce(counts);
      b_.add({.kind = OpKind::top_k_pick,
              .in = {counts},
              .out = {state},
              .n = {0, 0, 0, as_int(std::min(c_.k * c_.batch, total)), round}});
    }
    step(OpKind::top_k_ties, b_.shard().rank);
    b_.all_reduce(counts);
    step(OpKind::top_k_mask, b_.shard().rank);
  }

  size_t pair(size_t s, size_t t) const { return s * c_.layers - s * (s + 1) / 2 + t; }

  void decode() {
    b_.begin_section("decode");
    active_whole_ = b_.activation("active", {c_.layers, c_.batch, local_});
    active_ = slices("active", active_whole_, local_);
    b_.add({.kind = OpKind::multiply,
            .in = {pre_whole_, mask_},
            .out = {active_whole_},
            .n = {as_int(c_.layers * c_.batch * local_)}});
    const TensorId whole = b_.activation("outputs", {c_.layers * c_.batch, c_.width});
    const std::vector<TensorId> outputs = slices("outputs", whole, c_.width);
    for (size_t t = 0; t < c_.layers; ++t) {
      for (size_t s = 0; s <= t; ++s) {
        product(active_[s], false, decoder_[pair(s, t)], false, s == 0 ? kNoTensor : outputs[t],
                outputs[t], c_.batch, c_.width, local_);
      }
    }
    b_.all_reduce(whole);
    for (size_t t = 0; t < c_.layers; ++t)
      b_.add({.kind = OpKind::bias_add,
              .in = {outputs[t], decoder_bias_[t]},
              .out = {outputs[t]},
              .n = {as_int(c_.batch), as_int(c_.width)}});
    const size_t rows = c_.layers * c_.batch;
    const TensorId losses = b_.activation("loss.rows", {rows});
    const TensorId loss = b_.activation("loss", {1});
    const TensorId error = b_.activation("outputs.gradient", {rows, c_.width});
    error_ = slices("outputs.gradient", error, c_.width);
    b_.add({.kind = OpKind::mean_squared_error,
            .in = {whole, targets_},
            .out = {error, losses},
            .n = {as_int(rows), as_int(c_.width)},
            .f = {1 / static_cast<double>(c_.batch * c_.width)}});
    b_.add({.kind = OpKind::sum, .in = {losses}, .out = {loss}, .n = {as_int(rows)}});
  }

  void column_sum(TensorId x, TensorId parameter, size_t columns) {
    b_.add({.kind = OpKind::column_sum,
            .in = {x},
            .out = {b_.tensor(parameter).gradient},
            .n = {as_int(c_.batch), as_int(columns)}});
  }

  void backward() {
    b_.begin_section("decode.backward");
    const TensorId whole = b_.activation("active.gradient", {c_.layers, c_.batch, local_});
    const std::vector<TensorId> gradient = slices("active.gradient", whole, local_);
    for (size_t s = 0; s < c_.layers; ++s) {
      for (size_t t = s; t < c_.layers; ++t) {
        const TensorId weight = decoder_[pair(s, t)];
        product(active_[s], true, error_[t], false, kNoTensor, b_.tensor(weight).gradient, local_,
                c_.width, c_.batch);
        product(error_[t], false, weight, true, t == s ? kNoTensor : gradient[s], gradient[s],
                c_.batch, local_, c_.width);
      }
      column_sum(error_[s], decoder_bias_[s], c_.width);
    }
    // Nothing flows back through the selection itself.
    b_.add({.kind = OpKind::multiply,
            .in = {whole, mask_},
            .out = {whole},
            .n = {as_int(c_.layers * c_.batch * local_)}});
    b_.begin_section("encode.backward");
    for (size_t l = 0; l < c_.layers; ++l) {
      product(inputs_[l], true, gradient[l], false, kNoTensor, b_.tensor(encoder_[l]).gradient,
              c_.width, local_, c_.batch);
      column_sum(gradient[l], encoder_bias_[l], local_);
    }
  }

  CltConfig c_;
  Builder b_;
  size_t local_;  ///< features of this rank
  std::vector<TensorId> inputs_, pre_, active_, error_;
  std::vector<TensorId> encoder_, encoder_bias_, decoder_, decoder_bias_;
  TensorId targets_ = kNoTensor, pre_whole_ = kNoTensor, mask_ = kNoTensor,
           active_whole_ = kNoTensor;
};

}  // namespace

Result<Program> build_clt(const CltConfig& config, Shard shard) {
  for (const size_t n : {config.layers, config.width, config.features, config.batch, config.k})
    if (n == 0) return Error{.message = "layers, width, features, batch and k must be positive"};
  if (config.features % static_cast<size_t>(shard.size) != 0)
    return Error{.message = "features (" + std::to_string(config.features) +
                            ") must be a multiple of the ranks (" + std::to_string(shard.size) +
                            ")"};
  if (static_cast<size_t>(shard.size) > kTopKBins)
    return Error{.message = "at most " + std::to_string(kTopKBins) + " ranks"};
  return Clt(config, shard).build();
}

}  // namespace stallscope::trainer
