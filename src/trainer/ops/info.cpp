// Names and work of every kind of op, as one table.
#include <array>
#include <set>

#include "trainer/ops/ops.h"

namespace stallscope::trainer {
namespace {

struct Row {
  OpKind kind;
  const char* kernel;
  /// FLOP as a function of the op's sizes; bytes are those of the tensors it touches.
  double (*flops)(const Op& op);
};

double elements(const Op& op) {
  return static_cast<double>(op.n[0]) * static_cast<double>(op.n[1] > 0 ? op.n[1] : 1);
}

// Elements of decoder rows that the entries of a source layer meet, as expected.
double decoded_elements(const Op& op) {
  const auto layers = static_cast<double>(op.n[0]);
  return static_cast<double>(op.n[6]) / layers * (layers - static_cast<double>(op.n[4])) *
         static_cast<double>(op.n[3]);
}

constexpr std::array<Row, kOpKinds> kRows{{
    {OpKind::gemm, "gemm",
     [](const Op& o) {
       return 2.0 * static_cast<double>(o.n[0]) * static_cast<double>(o.n[1]) *
              static_cast<double>(o.n[2]);
     }},
    {OpKind::gelu_forward, "gelu_forward_kernel",
     [](const Op& o) { return 20.0 * static_cast<double>(o.n[0]); }},
    {OpKind::gelu_backward, "gelu_backward_kernel",
     [](const Op& o) { return 30.0 * static_cast<double>(o.n[0]); }},
    {OpKind::bias_add, "bias_residual_add_kernel", [](const Op& o) { return 2 * elements(o); }},
    {OpKind::column_sum, "column_sum_kernel", [](const Op& o) { return elements(o); }},
    {OpKind::add, "add_kernel", [](const Op& o) { return static_cast<double>(o.n[0]); }},
    {OpKind::layer_norm_forward, "layer_norm_forward_kernel",
     [](const Op& o) { return 8 * elements(o); }},
    {OpKind::layer_norm_backward, "layer_norm_backward_kernel",
     [](const Op& o) { return 16 * elements(o); }},
    // Two products of [sequence, head_size] x [head_size, sequence] per head; half when causal.
    {OpKind::attention_forward, "attention_forward_kernel",
     [](const Op& o) {
       return (o.n[4] != 0 ? 2.0 : 4.0) * static_cast<double>(o.n[0]) *
              static_cast<double>(o.n[1]) * static_cast<double>(o.n[1]) *
              static_cast<double>(o.n[2]) * static_cast<double>(o.n[3]);
     }},
    {OpKind::attention_backward, "attention_backward_kernel",
     [](const Op& o) {
       return (o.n[4] != 0 ? 4.0 : 8.0) * static_cast<double>(o.n[0]) *
              static_cast<double>(o.n[1]) * static_cast<double>(o.n[1]) *
              static_cast<double>(o.n[2]) * static_cast<double>(o.n[3]);
     }},
    {OpKind::embedding_forward, "embedding_forward_kernel", [](const Op&) { return 0.0; }},
    {OpKind::embedding_backward, "embedding_backward_kernel",
     [](const Op& o) { return elements(o); }},
    {OpKind::gather_rows, "gather_rows_kernel", [](const Op&) { return 0.0; }},
    {OpKind::scatter_rows, "scatter_rows_kernel", [](const Op& o) { return elements(o); }},
    {OpKind::row_max, "row_max_kernel", [](const Op& o) { return elements(o); }},
    {OpKind::softmax_partial, "softmax_partial_kernel",
     [](const Op& o) { return 10 * elements(o); }},
    {OpKind::cross_entropy, "cross_entropy_kernel", [](const Op& o) { return 2 * elements(o); }},
    {OpKind::softmax_cross_entropy, "softmax_cross_entropy_kernel",
     [](const Op& o) { return 13 * elements(o); }},
    {OpKind::sum, "reduce_sum_kernel", [](const Op& o) { return static_cast<double>(o.n[0]); }},
    {OpKind::mean_squared_error, "mse_loss_kernel", [](const Op& o) { return 4 * elements(o); }},
    {OpKind::multiply, "multiply_kernel", [](const Op& o) { return static_cast<double>(o.n[0]); }},
    {OpKind::top_k_statistics, "feature_statistics_kernel",
     [](const Op& o) { return 5 * elements(o) * static_cast<double>(o.n[2]); }},
    {OpKind::merge_statistics, "merge_statistics_kernel",
     [](const Op& o) { return 8 * elements(o); }},
    {OpKind::top_k_histogram, "top_k_histogram_kernel",
     [](const Op& o) { return 4 * elements(o) * static_cast<double>(o.n[2]); }},
    {OpKind::top_k_pick, "top_k_pick_kernel", [](const Op&) { return 2048.0; }},
    {OpKind::top_k_ties, "top_k_ties_kernel",
     [](const Op& o) { return 4 * elements(o) * static_cast<double>(o.n[2]); }},
    {OpKind::top_k_mask, "top_k_mask_kernel",
     [](const Op& o) { return 4 * elements(o) * static_cast<double>(o.n[2]); }},
    {OpKind::top_k_sample, "top_k_sample_kernel", [](const Op&) { return 0.0; }},
    {OpKind::top_k_survivors, "top_k_survivors_kernel",
     [](const Op& o) { return 3 * elements(o) * static_cast<double>(o.n[2]); }},
    {OpKind::top_k_list, "top_k_list_kernel", [](const Op&) { return 0.0; }},
    {OpKind::token_top_k, "token_top_k_kernel",
     [](const Op& o) { return 4 * elements(o) * static_cast<double>(o.n[2]); }},
    {OpKind::token_top_k_list, "token_top_k_list_kernel", [](const Op&) { return 0.0; }},
    {OpKind::jump_list, "jump_relu_list_kernel",
     [](const Op& o) { return elements(o) * static_cast<double>(o.n[2]); }},
    {OpKind::reverse_index, "reverse_index_kernel", [](const Op&) { return 0.0; }},
    {OpKind::active_features, "active_features_kernel", [](const Op&) { return 0.0; }},
    {OpKind::feature_activity, "feature_activity_kernel", [](const Op&) { return 0.0; }},
    {OpKind::sparse_decode, "sparse_decode_kernel",
     [](const Op& o) { return 2 * decoded_elements(o); }},
    {OpKind::sparse_decode_backward, "sparse_decode_backward_kernel",
     [](const Op& o) { return 4 * decoded_elements(o); }},
    {OpKind::sparse_penalty, "sparsity_penalty_kernel",
     [](const Op& o) { return 2 * decoded_elements(o); }},
    {OpKind::preactivation_penalty, "preactivation_penalty_kernel",
     [](const Op& o) { return 2 * static_cast<double>(o.n[0]); }},
    {OpKind::scaled_squared_error, "scaled_squared_error_kernel",
     [](const Op& o) { return 5 * elements(o); }},
    {OpKind::combine_losses, "combine_losses_kernel",
     [](const Op& o) { return static_cast<double>(o.n[0]); }},
    {OpKind::sparse_scatter, "sparse_scatter_kernel", [](const Op&) { return 0.0; }},
    {OpKind::threshold_gradient, "threshold_gradient_kernel", [](const Op&) { return 0.0; }},
    {OpKind::add_targets, "add_targets_kernel", [](const Op& o) { return elements(o); }},
    {OpKind::take_targets, "take_targets_kernel", [](const Op&) { return 0.0; }},
    {OpKind::convert, "convert_bf16_kernel", [](const Op&) { return 0.0; }},
    {OpKind::pack, "pack_weights_kernel", [](const Op&) { return 0.0; }},
    {OpKind::all_reduce, "all_reduce", [](const Op&) { return 0.0; }},
    {OpKind::all_gather, "all_gather", [](const Op&) { return 0.0; }},
    {OpKind::reduce_scatter, "reduce_scatter", [](const Op&) { return 0.0; }},
    {OpKind::dropout, "dropout_kernel", [](const Op& o) { return 10 * elements(o); }},
    {OpKind::advance_counter, "advance_counter_kernel", [](const Op&) { return 0.0; }},
    {OpKind::adamw, "fused_adamw_kernel", [](const Op&) { return 0.0; }},
}};

const Row& row(OpKind kind) {
  return kRows[static_cast<size_t>(kind)];
}

constexpr bool in_order() {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (static_cast<size_t>(kRows[i].kind) != i) return false;
  return true;
}
static_assert(in_order(), "one row per kind, in the order of OpKind");

}  // namespace

const char* kernel_name(const Op& op) {
  return op.name.empty() ? row(op.kind).kernel : op.name.c_str();
}

Work work_of(const Program& program, const Op& op, size_t element_bytes) {
  Work work{.flops = row(op.kind).flops(op), .bytes = 0};
  auto touch = [&](TensorId id) {
    if (id == kNoTensor) return;
    const TensorInfo& it = program.tensor(id);
    const size_t bytes = it.element == Element::index  ? sizeof(int32_t)
                         : it.element == Element::bf16 ? sizeof(uint16_t)
                                                       : element_bytes;
    work.bytes += static_cast<double>(it.size() * bytes);
  };
  if (op.kind == OpKind::adamw) {
    for (const TensorId id : program.parameters()) {
      const auto count = static_cast<double>(program.tensor(id).size());
      work.flops += 15 * count;  // two moments, two corrections, root, division, decay
      work.bytes += 7 * count * static_cast<double>(element_bytes);  // reads p, g, m, v; writes 3
    }
    return work;
  }
  if (op.kind == OpKind::sparse_decode || op.kind == OpKind::sparse_decode_backward ||
      op.kind == OpKind::sparse_penalty) {
    // Rows of the decoder where features are active, and the whole of its gradient.
    work.bytes = decoded_elements(op) * static_cast<double>(element_bytes);
    if (op.kind == OpKind::sparse_decode_backward) {
      work.bytes *= 2;
      touch(op.out[1]);
    }
    return work;
  }
  for (const TensorId id : op.in) touch(id);
  for (const TensorId id : op.out) touch(id);
  return work;
}

}  // namespace stallscope::trainer
