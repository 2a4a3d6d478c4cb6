// Each op as calls of the numeric kernels, split over the thread team.
#include "trainer/ops/ops.h"
#include "trainer/ops/team.h"
#include "trainer/ops/transcoder.h"
#include "trainer/program/initial_values.h"

namespace stallscope::trainer {
namespace {

// Rows of a register tile of the product kernel.
constexpr size_t kGemmGrain = 6;
// Elements below which a second thread costs more than it does.
constexpr size_t kElementGrain = 4096;
// Columns per piece of column sums: whole cache lines.
constexpr size_t kColumnGrain = 16;

size_t row_grain(size_t columns) {
  return std::max<size_t>(kElementGrain / std::max<size_t>(columns, 1), 1);
}

// A stream of its own for each place in a model and each pass over it.
Dropout dropout_of(double share, int64_t site, const int32_t* counter) {
  if (counter == nullptr || share <= 0) return {};
  const auto number = static_cast<uint64_t>(static_cast<uint32_t>(*counter));
  return {.stream = random_bits(0x64726f70, number << 32 | static_cast<uint64_t>(site)),
          .threshold = static_cast<uint32_t>(share * 0x1p32),
          .factor = 1 / (1 - share)};
}

AttentionShape attention_shape(const Op& op) {
  return {.batch = static_cast<size_t>(op.n[0]),
          .sequence = static_cast<size_t>(op.n[1]),
          .heads = static_cast<size_t>(op.n[2]),
          .head_size = static_cast<size_t>(op.n[3]),
          .causal = op.n[4] != 0,
          .first_head = static_cast<size_t>(op.n[6]),
          .all_heads = static_cast<size_t>(op.n[7])};
}

template <typename T>
class Runner {
 public:
  Runner(const Op& op, const Bindings<T>& bindings) : op_(op), bindings_(bindings) {}

  void gemm() const {
    const size_t m = n(0), columns = n(1), k = n(2);
    const bool transpose_a = op_.n[3] != 0, transpose_b = op_.n[4] != 0;
    const Gemm<T> g{.m = m,
                    .n = columns,
                    .k = k,
                    .a = in(0),
                    .lda = transpose_a ? m : k,
                    .transpose_a = transpose_a,
                    .b = in(1),
                    .ldb = transpose_b ? k : columns,
                    .transpose_b = transpose_b,
                    .base = in(2),
                    .c = out(0),
                    .ldc = columns,
                    .bias = in(3)};
    over(m, kGemmGrain, [&](size_t b, size_t e) { table_.gemm(g, b, e); });
  }
  void gelu_forward() const {
    over(n(0), kElementGrain,
         [&](size_t b, size_t e) { table_.gelu_forward(to(0), from(0), b, e, op_.n[1] != 0); });
  }
  void gelu_backward() const {
    over(n(0), kElementGrain, [&](size_t b, size_t e) {
      table_.gelu_backward(to(0), from(0), from(1), b, e, op_.n[1] != 0);
    });
  }
  void bias_add() const {
    over(n(0), row_grain(n(1)),
         [&](size_t b, size_t e) { table_.bias_add(out(0), in(0), in(1), in(2), n(1), b, e); });
  }
  void column_sum() const {
    over(n(1), kColumnGrain,
         [&](size_t b, size_t e) { table_.column_sum(out(0), in(1), from(0), n(0), n(1), b, e); });
  }
  void add() const {
    over(n(0), kElementGrain,
         [&](size_t b, size_t e) { table_.bias_add(out(0), in(0), nullptr, in(1), 1, b, e); });
  }
  void layer_norm_forward() const {
    over(n(0), row_grain(n(1)), [&](size_t b, size_t e) {
      table_.layer_norm_forward(to(0), out(1), out(2), in(0), in(1), in(2), n(1),
                                static_cast<T>(op_.f[0]), b, e);
    });
  }
  void layer_norm_backward() const {
    over(n(1), kColumnGrain, [&](size_t b, size_t e) {
      table_.layer_norm_parameters(out(1), out(2), in(6), in(7), in(0), in(1), in(3), in(4), n(0),
                                   n(1), b, e);
    });
    over(n(0), row_grain(n(1)), [&](size_t b, size_t e) {
      table_.layer_norm_backward(out(0), in(5), in(0), in(1), in(2), in(3), in(4), n(1), b, e);
    });
  }
  void attention_forward() const {
    over_pairs(2, [&](const AttentionShape& shape, T* scratch, size_t b, size_t e) {
      table_.attention_forward(to(0), out(1), in(0), in(1), shape, scratch, b, e);
    });
  }
  void attention_backward() const {
    over_pairs(4, [&](const AttentionShape& shape, T* scratch, size_t b, size_t e) {
      table_.attention_backward(to(0), in(0), in(1), in(2), in(3), shape, scratch, b, e);
    });
  }
  void embedding_forward() const {
    over(n(0), row_grain(n(1)), [&](size_t b, size_t e) {
      table_.embedding_forward(out(0), in(0), bindings_.index_at(op_.in[1]), n(1), first(2),
                               first(3), b, e);
    });
  }
  void embedding_backward() const {
    if (op_.in[2] == kNoTensor) {
      over(n(3) * n(1), kElementGrain, [&](size_t b, size_t e) {
        for (size_t i = b; i < e; ++i) out(0)[i] = 0;
      });
    }
    over(n(1), kColumnGrain, [&](size_t b, size_t e) {
      table_.embedding_backward(out(0), in(0), bindings_.index_at(op_.in[1]), n(0), n(1), first(2),
                                first(3), b, e);
    });
  }
  // out[r] = in[rows[r]]
  void gather_rows() const {
    const int32_t* rows = bindings_.index_at(op_.in[1]);
    over(n(0), row_grain(n(1)), [&](size_t b, size_t e) {
      for (size_t r = b; r < e; ++r)
        std::copy_n(in(0) + static_cast<size_t>(rows[r]) * n(1), n(1), out(0) + r * n(1));
    });
  }
  // out = base; out[rows[r]] += in[r]
  void scatter_rows() const {
    const int32_t* rows = bindings_.index_at(op_.in[1]);
    over(n(2) * n(1), kElementGrain, [&](size_t b, size_t e) {
      for (size_t i = b; i < e; ++i) out(0)[i] = in(2) != nullptr ? in(2)[i] : T(0);
    });
    over(n(1), kColumnGrain, [&](size_t b, size_t e) {
      for (size_t r = 0; r < n(0); ++r) {
        T* to = out(0) + static_cast<size_t>(rows[r]) * n(1);
        for (size_t c = b; c < e; ++c) to[c] += in(0)[r * n(1) + c];
      }
    });
  }
  void row_max() const {
    over(n(0), row_grain(n(1)), [&](size_t b, size_t e) {
      table_.row_max(out(0), from(0), bindings_.index_at(op_.in[1]), n(1), b, e);
    });
  }
  void softmax_partial() const {
    over(n(0), row_grain(n(1)), [&](size_t b, size_t e) {
      table_.softmax_partial(out(0), out(0) + n(0), from(2), in(0), bindings_.index_at(op_.in[1]),
                             n(1), first(2), b, e);
    });
  }
  void cross_entropy() const {
    over(n(0), row_grain(n(1)), [&](size_t b, size_t e) {
      table_.cross_entropy(to(0), out(1), in(2), in(0), in(0) + n(0), bindings_.index_at(op_.in[1]),
                           static_cast<T>(op_.f[0]), n(1), first(2), b, e);
    });
  }
  void softmax_cross_entropy() const {
    const size_t rows = n(0), threads = static_cast<size_t>(bindings_.team);
    over(threads, 1, [&](size_t b, size_t e) {
      for (size_t t = b; t < e; ++t)
        table_.softmax_cross_entropy(to(0), out(1), bindings_.index_at(op_.in[1]),
                                     static_cast<T>(op_.f[0]), n(1), bindings_.scratch + t * n(1),
                                     rows * t / threads, rows * (t + 1) / threads);
    });
  }
  // out = in in bf16, transposed if n[2]; `in` may be of bf16 already.
  void convert() const {
    const auto* halves = static_cast<const uint16_t*>(bindings_.memory[op_.in[0]]);
    auto* to = static_cast<uint16_t*>(bindings_.memory[op_.out[0]]);
    if (op_.n[2] == 0) {
      over(n(0) * n(1), kElementGrain,
           [&](size_t b, size_t e) { table_.convert_half(to, in(0), b, e); });
    } else if (in(0) != nullptr) {
      over(n(1), kColumnGrain,
           [&](size_t b, size_t e) { table_.transpose_half(to, in(0), n(0), n(1), b, e); });
    } else {
      over(n(1), kColumnGrain,
           [&](size_t b, size_t e) { table_.transpose_halves(to, halves, n(0), n(1), b, e); });
    }
  }
  // out(0) = gradient, out(1) = loss of each row; f[0] scales the squares.
  void mean_squared_error() const {
    const auto factor = static_cast<T>(op_.f[0]);
    over(n(0), row_grain(n(1)), [&](size_t b, size_t e) {
      for (size_t r = b; r < e; ++r) {
        T total = 0;
        for (size_t i = r * n(1); i < (r + 1) * n(1); ++i) {
          const T difference = in(0)[i] - in(1)[i];
          total += difference * difference;
          out(0)[i] = 2 * factor * difference;
        }
        out(1)[r] = total * factor;
      }
    });
  }
  // y = base + what is kept of x
  void dropout() const {
    Dropout drop = dropout_of(op_.f[0], op_.n[2], bindings_.index_at(op_.in[2]));
    drop.first_row = n(3);
    over(n(0), row_grain(n(1)),
         [&](size_t b, size_t e) { table_.dropout(out(0), in(0), in(1), drop, n(1), b, e); });
  }
  void advance() const { ++*bindings_.index_at(op_.out[0]); }
  void multiply() const {
    over(n(0), kElementGrain, [&](size_t b, size_t e) {
      for (size_t i = b; i < e; ++i) out(0)[i] = in(0)[i] * in(1)[i];
    });
  }
  void sum() const {
    T total = 0;
    for (size_t i = 0; i < n(0); ++i) total += in(0)[i];
    *out(0) = total;
  }

 private:
  template <typename Body>
  void over(size_t count, size_t grain, const Body& body) const {
    for_rows(bindings_.team, count, grain, body);
  }
  // Each thread has a part of the scratch memory.
  template <typename Body>
  void over_pairs(size_t lengths, const Body& body) const {  // the counter follows the lengths
    AttentionShape shape = attention_shape(op_);
    shape.lengths = bindings_.index_at(op_.in[lengths]);
    shape.dropout = dropout_of(op_.f[0], op_.n[5], bindings_.index_at(op_.in[lengths + 1]));
    const size_t each = table_.attention_scratch(shape);
    over(shape.batch * shape.heads, 1,
         [&](size_t b, size_t e) { body(shape, bindings_.scratch + team_member() * each, b, e); });
  }
  size_t n(size_t i) const { return static_cast<size_t>(op_.n[i]); }
  int32_t first(size_t i) const { return static_cast<int32_t>(op_.n[i]); }
  const T* in(size_t i) const { return bindings_.at(op_.in[i]); }
  T* out(size_t i) const { return bindings_.at(op_.out[i]); }
  // Where the library's operands are of bf16, these may be too.
  Numbers<const T> from(size_t i) const {
    const Numbers<T> it = bindings_.numbers_at(op_.in[i]);
    return {it.real, it.half};
  }
  Numbers<T> to(size_t i) const { return bindings_.numbers_at(op_.out[i]); }

  const Op& op_;
  const Bindings<T>& bindings_;
  const KernelTable<T>& table_ = kernels<T>();
};

}  // namespace

template <typename T>
void run_op(const Op& op, const Bindings<T>& bindings) {
  const Runner<T> run(op, bindings);
  switch (op.kind) {
    case OpKind::gemm:
      return run.gemm();
    case OpKind::gelu_forward:
      return run.gelu_forward();
    case OpKind::gelu_backward:
      return run.gelu_backward();
    case OpKind::bias_add:
      return run.bias_add();
    case OpKind::column_sum:
      return run.column_sum();
    case OpKind::add:
      return run.add();
    case OpKind::layer_norm_forward:
      return run.layer_norm_forward();
    case OpKind::layer_norm_backward:
      return run.layer_norm_backward();
    case OpKind::attention_forward:
      return run.attention_forward();
    case OpKind::attention_backward:
      return run.attention_backward();
    case OpKind::embedding_forward:
      return run.embedding_forward();
    case OpKind::embedding_backward:
      return run.embedding_backward();
    case OpKind::gather_rows:
      return run.gather_rows();
    case OpKind::scatter_rows:
      return run.scatter_rows();
    case OpKind::row_max:
      return run.row_max();
    case OpKind::softmax_partial:
      return run.softmax_partial();
    case OpKind::cross_entropy:
      return run.cross_entropy();
    case OpKind::softmax_cross_entropy:
      return run.softmax_cross_entropy();
    case OpKind::sum:
      return run.sum();
    case OpKind::mean_squared_error:
      return run.mean_squared_error();
    case OpKind::multiply:
      return run.multiply();
    case OpKind::dropout:
      return run.dropout();
    case OpKind::advance_counter:
      return run.advance();
    case OpKind::convert:
      return run.convert();
    case OpKind::pack:  // the product library's
    case OpKind::all_reduce:
    case OpKind::all_gather:
    case OpKind::reduce_scatter:
    case OpKind::adamw:
      return;
    default:
      return run_transcoder_op(op, bindings);
  }
}

template <typename T>
size_t scratch_of(const Op& op) {
  const bool attention =
      op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward;
  if (attention) return kernels<T>().attention_scratch(attention_shape(op));
  if (op.kind == OpKind::softmax_cross_entropy) return static_cast<size_t>(op.n[1]);
  return transcoder_scratch(op);
}

template size_t scratch_of<float>(const Op&);
template size_t scratch_of<double>(const Op&);
template void run_op<float>(const Op&, const Bindings<float>&);
template void run_op<double>(const Op&, const Bindings<double>&);

}  // namespace stallscope::trainer
