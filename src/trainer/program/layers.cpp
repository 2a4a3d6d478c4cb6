// The layers of transformers, as ops forwards and backwards.
#include <cassert>
#include <string>
#include <utility>

#include "trainer/program/builder.h"

namespace stallscope::trainer {
namespace {

int64_t as_int(size_t n) {
  return static_cast<int64_t>(n);
}

// C[m, n] = base + op(A) op(B).
Op product_op(TensorId a, bool transpose_a, TensorId b, bool transpose_b, TensorId base, TensorId c,
              size_t m, size_t n, size_t k) {
  return {.kind = OpKind::gemm,
          .in = {a, b, base},
          .out = {c},
          .n = {as_int(m), as_int(n), as_int(k), transpose_a, transpose_b}};
}

}  // namespace

TensorId Builder::product(std::string name, TensorId x, TensorId weight, bool transposed) {
  const size_t m = rows(x), k = columns(x);
  const size_t n = tensor(weight).size() / k;
  use_parameter(weight);
  std::vector<size_t> shape{m, n};
  if (!transposed) {  // trailing dimensions of the weight stay visible: [rows, 3, heads, size]
    const std::vector<size_t>& of_weight = tensor(weight).shape;
    size_t inputs = 1, leading = 0;
    while (inputs < k) inputs *= of_weight[leading++];
    shape = {m};
    shape.insert(shape.end(), of_weight.begin() + static_cast<std::ptrdiff_t>(leading),
                 of_weight.end());
  }
  const TensorId y = activation(std::move(name), std::move(shape));
  add(product_op(x, false, weight, transposed, kNoTensor, y, m, n, k));
  on_backward([=, this] {
    const TensorId dy = gradient(y);
    // First what others wait for: its sum over the group runs beside the weight's gradient.
    if (tensor(x).role != Role::input) {
      const Flow dx = flow_to(x);
      add(product_op(dy, false, weight, !transposed, dx.base, dx.target, m, k, n));
    }
    const Flow dw = flow_to(weight);
    if (transposed) {
      add(product_op(dy, true, x, false, dw.base, dw.target, n, k, m));
    } else {
      add(product_op(x, true, dy, false, dw.base, dw.target, k, n, m));
    }
  });
  return y;
}

TensorId Builder::matmul(std::string name, TensorId x, TensorId weight) {
  return product(std::move(name), x, weight, false);
}

TensorId Builder::matmul_transposed(std::string name, TensorId x, TensorId weight) {
  return product(std::move(name), x, weight, true);
}

TensorId Builder::bias_add(std::string name, TensorId x, TensorId bias, TensorId residual) {
  // A bias of several rows ([sequence, hidden] positions) repeats over the batch.
  const size_t n = bias != kNoTensor ? tensor(bias).size() : columns(x);
  const size_t m = tensor(x).size() / n;
  const TensorId y = activation(std::move(name), std::vector<size_t>(tensor(x).shape));
  if (bias != kNoTensor) use_parameter(bias);
  add({.kind = OpKind::bias_add,
       .in = {x, bias, residual},
       .out = {y},
       .n = {as_int(m), as_int(n)}});
  on_backward([=, this] {
    if (bias != kNoTensor && tensor(bias).role == Role::parameter) {
      const Flow db = flow_to(bias);
      add({.kind = OpKind::column_sum,
           .in = {gradient(y), db.base},
           .out = {db.target},
           .n = {as_int(m), as_int(n)}});
    }
    if (residual != kNoTensor) pass_gradient(residual, y);
    pass_gradient(x, y);
  });
  return y;
}

TensorId Builder::gelu(std::string name, TensorId x, bool tanh_form) {
  const TensorId y = activation(std::move(name), std::vector<size_t>(tensor(x).shape));
  const int64_t count = as_int(tensor(x).size());
  add({.kind = OpKind::gelu_forward, .in = {x}, .out = {y}, .n = {count, tanh_form}});
  on_backward([=, this] {
    const Flow dx = flow_to(x);
    assert(dx.base == kNoTensor);
    add({.kind = OpKind::gelu_backward,
         .in = {gradient(y), x},
         .out = {dx.target},
         .n = {count, tanh_form}});
  });
  return y;
}

TensorId Builder::layer_norm(std::string name, TensorId x, TensorId gain, TensorId bias,
                             double epsilon) {
  const size_t m = rows(x), n = columns(x);
  const TensorId mean = activation(name + ".mean", {m});
  const TensorId rstd = activation(name + ".rstd", {m});
  use_parameter(gain);
  use_parameter(bias);
  const TensorId y = activation(std::move(name), std::vector<size_t>(tensor(x).shape));
  add({.kind = OpKind::layer_norm_forward,
       .in = {x, gain, bias},
       .out = {y, mean, rstd},
       .n = {as_int(m), as_int(n)},
       .f = {epsilon}});
  on_backward([=, this] {
    const Flow dx = flow_to(x), dgain = flow_to(gain), dbias = flow_to(bias);
    add({.kind = OpKind::layer_norm_backward,
         .in = {gradient(y), x, gain, mean, rstd, dx.base, dgain.base, dbias.base},
         .out = {dx.target, dgain.target, dbias.target},
         .n = {as_int(m), as_int(n)}});
  });
  return y;
}

TensorId Builder::attention(std::string name, TensorId qkv, const AttentionOptions& o) {
  const TensorId log_sums = activation(name + ".log_sums", {o.batch * o.heads, o.sequence});
  const TensorId y = activation(name, {o.batch * o.sequence, o.heads * o.head_size});
  const TensorId counter = o.dropout > 0 ? pass_counter() : kNoTensor;
  const int64_t site = o.dropout > 0 ? next_dropout_site() : 0;
  const std::array<int64_t, 8> sizes{as_int(o.batch),
                                     as_int(o.sequence),
                                     as_int(o.heads),
                                     as_int(o.head_size),
                                     o.causal,
                                     site,
                                     shard_.rank * as_int(o.heads),
                                     shard_.size * as_int(o.heads)};
  add({.kind = OpKind::attention_forward,
       .in = {qkv, o.mask, o.lengths, counter},
       .out = {y, log_sums},
       .n = sizes,
       .f = {o.dropout}});
  on_backward([=, this] {
    const Flow dqkv = flow_to(qkv);
    assert(dqkv.base == kNoTensor);
    add({.kind = OpKind::attention_backward,
         .in = {gradient(y), qkv, log_sums, o.mask, o.lengths, counter},
         .out = {dqkv.target},
         .n = sizes,
         .f = {o.dropout}});
  });
  return y;
}

TensorId Builder::dropout(std::string name, TensorId x, double share, TensorId residual) {
  const TensorId y = activation(std::move(name), std::vector<size_t>(tensor(x).shape));
  const TensorId counter = pass_counter();
  const int64_t first_row = in_split_rows() ? shard_.rank * as_int(rows(x)) : 0;
  const std::array<int64_t, 8> sizes{as_int(rows(x)), as_int(columns(x)), next_dropout_site(),
                                     first_row};
  add({.kind = OpKind::dropout,
       .in = {x, residual, counter},
       .out = {y},
       .n = sizes,
       .f = {share}});
  on_backward([=, this] {
    const Flow dx = flow_to(x);
    add({.kind = OpKind::dropout,
         .in = {gradient(y), dx.base, counter},
         .out = {dx.target},
         .n = sizes,
         .f = {share}});
    if (residual != kNoTensor) pass_gradient(residual, y);
  });
  return y;
}

TensorId Builder::embedding(std::string name, TensorId table, TensorId tokens) {
  const size_t count = tensor(tokens).size(), width = columns(table), local = rows(table);
  const bool sharded = tensor(table).shard_dimension == 0;
  const std::array<int64_t, 8> sizes{as_int(count), as_int(width),
                                     sharded ? shard_.rank * as_int(local) : 0, as_int(local)};
  TensorId y = activation(std::move(name), {count, width});
  add({.kind = OpKind::embedding_forward, .in = {table, tokens}, .out = {y}, .n = sizes});
  on_backward([=, this] {
    const Flow flow = flow_to(table);
    add({.kind = OpKind::embedding_backward,
         .in = {gradient(y), tokens, flow.base},
         .out = {flow.target},
         .n = sizes});
  });
  return sharded ? leave_parallel(y) : y;
}

TensorId Builder::gather_rows(std::string name, TensorId x, TensorId numbers) {
  const size_t count = tensor(numbers).size(), width = columns(x), total = rows(x);
  const TensorId y = activation(std::move(name), {count, width});
  add({.kind = OpKind::gather_rows,
       .in = {x, numbers},
       .out = {y},
       .n = {as_int(count), as_int(width)}});
  on_backward([=, this] {
    const Flow flow = flow_to(x);
    add({.kind = OpKind::scatter_rows,
         .in = {gradient(y), numbers, flow.base},
         .out = {flow.target},
         .n = {as_int(count), as_int(width), as_int(total)}});
  });
  return y;
}

TensorId Builder::cross_entropy(std::string name, TensorId logits, TensorId labels,
                                size_t counted) {
  const size_t m = rows(logits), n = columns(logits);
  const int64_t first = shard_.rank * as_int(n);
  const TensorId maximum = activation(name + ".maximum", {m});
  const TensorId sums = activation(name + ".sums", {2, m});  // sums, then the targets' logits
  const TensorId losses = activation(name + ".rows", {m});
  const TensorId loss = activation(std::move(name), {1});
  const double scale = 1.0 / static_cast<double>(counted);
  add({.kind = OpKind::row_max,
       .in = {logits, labels},
       .out = {maximum},
       .n = {as_int(m), as_int(n)}});
  if (shard_.size > 1) reduce_group(maximum, 1);
  add({.kind = OpKind::softmax_partial,
       .in = {maximum, labels, logits},
       .out = {sums},
       .n = {as_int(m), as_int(n), first}});
  all_reduce(sums);
  add({.kind = OpKind::cross_entropy,
       .in = {sums, labels, maximum, logits},
       .out = {logits, losses},
       .n = {as_int(m), as_int(n), first},
       .f = {scale}});
  add({.kind = OpKind::sum, .in = {losses}, .out = {loss}, .n = {as_int(m)}});
  sum_replicas(loss);
  // The forward pass left the gradient where the logits were.
  on_backward([=, this] { gradients_[logits] = {logits, false}; });
  return loss;
}

}  // namespace stallscope::trainer
