#include "trainer/ops/transcoder.h"

#include <algorithm>

#include "trainer/ops/sparse.h"
#include "trainer/ops/team.h"
#include "trainer/ops/top_k.h"

namespace stallscope::trainer {
namespace {

// Of every op, n[0..2] = {layers, batch, features of this rank}; of those that have a list,
// n[7] = the list's room. Numbers come before values.
template <typename T>
class TranscoderRunner {
 public:
  TranscoderRunner(const Op& op, const Bindings<T>& bindings) : op_(op), bindings_(bindings) {}

  // in = {pre, mean, scale, state, counts, survivors}, out = {mask}; n[3] = k of all ranks,
  // n[4] = round or rank, n[5] = room of a piece of survivors, n[6] = elements of all ranks.
  TopK<T> top_k(TensorId mask) const {
    return {.layers = n(0),
            .batch = n(1),
            .features = n(2),
            .pre = in(0),
            .mean = bindings_.at(op_.in[1]),
            .scale = bindings_.at(op_.in[2]),
            .state = in_index(3),
            .counts = in_index(4),
            .mask = bindings_.at(mask),
            .survivors = in_index(5),
            .room = n(5),
            .team = bindings_.team};
  }
  void histogram() const {
    const TopK<T> it = top_k(kNoTensor);
    if (n(4) == 0 && it.survivors != nullptr) top_k_enough(it, n(3));
    top_k_histogram(it, static_cast<int>(n(4)));
  }
  // in = {statistics of all parts}, out = {mean, scale}; n = {features, parts, batch of a part}
  void merge() const { merge_statistics(in(0), n(1), n(2), n(0), out(0), out(1)); }
  void pick() const {
    top_k_pick(out_index(0), in_index(0), static_cast<int>(n(4)), static_cast<int32_t>(n(3)));
  }
  // out = {numbers, values}
  void batch_list() const { top_k_list(top_k(kNoTensor), n(4), out_list()); }

  // in = {pre, taking part, mean, scale, idle}, out = {keys, places}; n[3] = k, n[4] = rank,
  // n[5] = ranks, n[6] = steps that features must be idle for.
  void select_by_token() const {
    TokenTopK<T> it = token(out_index(0), out_index(1));
    it.mean = in(2);
    it.scale = in(3);
    it.idle = in_index(4);
    it.idle_from = static_cast<int32_t>(n(6));
    token_top_k(it, scratch());
  }
  // in = {pre, taking part, keys, places}, out = {numbers, values}
  void token_list() const {
    token_top_k_list(token(in_index(2), in_index(3)), out_list(), scratch());
  }
  // in = {pre, threshold}, out = {numbers, values, pre values}; f[0] = bandwidth
  void jump() const {
    jump_list(in(0), in(1), static_cast<T>(op_.f[0]), out_list(), out(2), bindings_.team);
  }
  // in = {numbers, values}, out = {numbers}
  void index() const { reverse_index(in_list(), bindings_.team); }
  // in = {numbers, values}, out = {active}
  void active() const { active_features(in_list(), out_index(0)); }
  // in = {active}, out = {idle, dead}; n[4] = steps after which a feature is dead
  void activity() const {
    *out_index(1) =
        feature_activity(in_index(0), n(0) * n(2), out_index(0), static_cast<int32_t>(n(4)));
  }
  // in = {numbers, values, decoder}, out = {outputs}; n[3] = width, n[4] = source
  void decode() const { sparse_decode(in_list(), in(2), out(0), n(3), n(4), bindings_.team); }
  // in = {numbers, values, decoder, errors, pull, values' gradient so far}, out = {values'
  // gradient, decoder's gradient}; n[5] = whether to add to the latter
  void decode_backward() const {
    const SparseList<T> list = in_list();
    if (op_.in[5] == kNoTensor) {
      const auto first = list.row_start[n(4) * n(1)], last = list.row_start[(n(4) + 1) * n(1)];
      std::fill(out(0) + first, out(0) + last, T(0));
    }
    sparse_decode_backward(list, {.decoder = in(2),
                                  .errors = in(3),
                                  .pull = in(4),
                                  .value_gradient = out(0),
                                  .decoder_gradient = out(1),
                                  .width = n(3),
                                  .source = n(4),
                                  .add = n(5) != 0,
                                  .team = bindings_.team});
  }
  // in = {numbers, values, decoder, factor}, out = {values' gradient, pull, penalty}; f[0] = c,
  // f[1] = 1 / batch
  void penalty() const {
    const T factor = *in(3) * static_cast<T>(op_.f[1]);
    const T sum = sparse_penalty(in_list(), in(2), n(3), n(4), factor, static_cast<T>(op_.f[0]),
                                 out(0), out(1), bindings_.team);
    *out(2) = n(4) == 0 ? sum : *out(2) + sum;
  }
  // in = {pre}, out = {pre, penalty, partial sums, what is to be zero}; n[0] = elements, f[0] =
  // factor
  void preactivation() const {
    if (out(3) != nullptr) *out(3) = 0;
    *out(1) = preactivation_penalty(out(0), n(0), static_cast<T>(op_.f[0]), out(2), bindings_.team);
  }
  // The part of dead features: in = {what they decode to, outputs, targets, dead}, out =
  // {gradient, loss by row}; n = {rows, width, k}, f[0] scales the squares.
  void auxiliary_error() const {
    const auto dead = static_cast<double>(*in_index(3));
    const auto factor = static_cast<T>(op_.f[0] * std::min(dead / static_cast<double>(n(2)), 1.0));
    for_rows(bindings_.team, n(0), 16, [&](size_t begin, size_t end) {
      for (size_t r = begin; r < end; ++r) {
        T total = 0;
        for (size_t i = r * n(1); i < (r + 1) * n(1); ++i) {
          const T difference = in(0)[i] - (in(2)[i] - in(1)[i]);
          total += difference * difference;
          out(0)[i] = 2 * factor * difference;
        }
        out(1)[r] = total * factor;
      }
    });
  }
  // in = {loss by row, auxiliary loss by row, sparsity, preactivation}, out = {loss, its parts};
  // n[0] = rows
  void combine() const {
    T* const parts = out(1);
    std::fill_n(parts, 4, T(0));
    for (size_t r = 0; r < n(0); ++r) {
      parts[0] += in(0)[r];
      if (in(1) != nullptr) parts[1] += in(1)[r];
    }
    parts[2] = *in(2);
    parts[3] = *in(3);
    *out(0) = parts[0] + parts[1] + parts[2] + parts[3];
  }
  // in = {numbers, values' gradient, pre's gradient}, out = {pre's gradient}
  void scatter() const { sparse_scatter(in_list(), in(1), out(0), bindings_.team); }
  // in = {numbers, values' gradient, pre values, threshold}, out = {values' gradient, threshold's}
  void threshold() const {
    threshold_gradient(in_list(), in(2), in(3), static_cast<T>(op_.f[0]), out(0), out(1));
  }

  // Between [layers, batch, width] and the rows of one source, [batch, targets, width]:
  // n = {layers, batch, width, source}.
  void add_targets() const {
    for_targets([&](T* all, const T*, size_t whole,
                    size_t part) { all[whole] = (n(3) == 0 ? T(0) : all[whole]) + in(0)[part]; },
                out(0));
  }
  void take_targets() const {
    for_targets([&](T*, const T* all, size_t whole, size_t part) { out(0)[part] = all[whole]; },
                nullptr);
  }

 private:
  template <typename Body>
  void for_targets(const Body& body, T* all) const {
    const size_t targets = n(0) - n(3), width = n(2);
    for_rows(bindings_.team, n(1), 1, [&](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row)
        for (size_t t = 0; t < targets; ++t)
          for (size_t c = 0; c < width; ++c)
            body(all, in(0), ((n(3) + t) * n(1) + row) * width + c,
                 (row * targets + t) * width + c);
    });
  }
  TokenTopK<T> token(int32_t* keys, int32_t* places) const {
    return {.layers = n(0),
            .batch = n(1),
            .features = n(2),
            .k = n(3),
            .pre = in(0),
            .mean = nullptr,
            .scale = nullptr,
            .idle = nullptr,
            .idle_from = 0,
            .taking_part = in_index(1),
            .keys = keys,
            .places = places,
            .rank = n(4),
            .ranks = n(5),
            .team = bindings_.team};
  }
  SparseShape shape() const { return {n(0), n(1), n(2), n(7)}; }
  SparseList<T> out_list() const { return {shape(), out_index(0), out(1)}; }
  // Lists are read only, but for their index.
  SparseList<T> in_list() const { return {shape(), in_index(0), bindings_.at(op_.in[1])}; }
  int32_t* scratch() const { return reinterpret_cast<int32_t*>(bindings_.scratch); }
  size_t n(size_t i) const { return static_cast<size_t>(op_.n[i]); }
  const T* in(size_t i) const { return bindings_.at(op_.in[i]); }
  T* out(size_t i) const { return bindings_.at(op_.out[i]); }
  int32_t* in_index(size_t i) const { return bindings_.index_at(op_.in[i]); }
  int32_t* out_index(size_t i) const { return bindings_.index_at(op_.out[i]); }

  const Op& op_;
  const Bindings<T>& bindings_;
};

}  // namespace

template <typename T>
void run_transcoder_op(const Op& op, const Bindings<T>& bindings) {
  const TranscoderRunner<T> run(op, bindings);
  switch (op.kind) {
    case OpKind::top_k_statistics:
      return top_k_statistics(run.top_k(kNoTensor), op.n[3] != 0);
    case OpKind::merge_statistics:
      return run.merge();
    case OpKind::top_k_sample:
      return top_k_sample(run.top_k(kNoTensor));
    case OpKind::top_k_survivors:
      return top_k_survivors(run.top_k(kNoTensor), static_cast<size_t>(op.n[3]),
                             static_cast<size_t>(op.n[6]));
    case OpKind::top_k_histogram:
      return run.histogram();
    case OpKind::top_k_pick:
      return run.pick();
    case OpKind::top_k_ties:
      return top_k_ties(run.top_k(kNoTensor), static_cast<size_t>(op.n[4]));
    case OpKind::top_k_mask:
      return top_k_mask(run.top_k(op.out[0]), static_cast<size_t>(op.n[4]));
    case OpKind::top_k_list:
      return run.batch_list();
    case OpKind::token_top_k:
      return run.select_by_token();
    case OpKind::token_top_k_list:
      return run.token_list();
    case OpKind::jump_list:
      return run.jump();
    case OpKind::reverse_index:
      return run.index();
    case OpKind::active_features:
      return run.active();
    case OpKind::feature_activity:
      return run.activity();
    case OpKind::sparse_decode:
      return run.decode();
    case OpKind::sparse_decode_backward:
      return run.decode_backward();
    case OpKind::sparse_penalty:
      return run.penalty();
    case OpKind::preactivation_penalty:
      return run.preactivation();
    case OpKind::scaled_squared_error:
      return run.auxiliary_error();
    case OpKind::combine_losses:
      return run.combine();
    case OpKind::sparse_scatter:
      return run.scatter();
    case OpKind::threshold_gradient:
      return run.threshold();
    case OpKind::add_targets:
      return run.add_targets();
    case OpKind::take_targets:
      return run.take_targets();
    default:
      return;
  }
}

size_t transcoder_scratch(const Op& op) {
  if (op.kind != OpKind::token_top_k && op.kind != OpKind::token_top_k_list) return 0;
  auto n = [&](size_t i) { return static_cast<size_t>(op.n[i]); };
  return token_top_k_scratch(n(0), n(2), n(3), n(5));
}

template void run_transcoder_op<float>(const Op&, const Bindings<float>&);
template void run_transcoder_op<double>(const Op&, const Bindings<double>&);

}  // namespace stallscope::trainer
