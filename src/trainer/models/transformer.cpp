#include "trainer/models/transformer.h"

namespace stallscope::trainer {
namespace {

constexpr Init kNormal{Init::Kind::normal, 0.02};
constexpr Init kZeros{};
constexpr Init kOnes{Init::Kind::ones, 0};

Error does_not_divide(const char* what, size_t value, const char* by, size_t divisor) {
  return Error{.message = std::string(what) + " (" + std::to_string(value) +
                          ") must be a multiple of " + by + " (" + std::to_string(divisor) + ")"};
}

// residual + dropout(the group's sum + bias)
TensorId end_block(Builder& b, const std::string& name, TensorId partial, TensorId bias,
                   TensorId residual, const BlockOptions& options) {
  const TensorId whole = b.leave_parallel(partial);
  if (options.dropout == 0) return b.bias_add(name, whole, bias, residual);
  return b.dropout(name, b.bias_add(name + ".whole", whole, bias), options.dropout, residual);
}

}  // namespace

Status check(const TransformerShape& s, Shard shard) {
  const auto ranks = static_cast<size_t>(shard.size);
  for (const size_t n : {s.layers, s.hidden, s.heads, s.vocabulary, s.sequence, s.batch})
    if (n == 0)
      return Error{.message =
                       "layers, hidden, heads, vocabulary, sequence and batch must be positive"};
  if (s.hidden % s.heads != 0) return does_not_divide("hidden", s.hidden, "heads", s.heads);
  if (s.heads % ranks != 0) return does_not_divide("heads", s.heads, "the ranks", ranks);
  if (s.vocabulary % ranks != 0)
    return does_not_divide("vocabulary", s.vocabulary, "the ranks", ranks);
  if (shard.splits_rows && s.batch * s.sequence % ranks != 0)
    return does_not_divide("batch x sequence", s.batch * s.sequence, "the ranks", ranks);
  return ok_status();
}

TensorId norm(Builder& b, const std::string& name, TensorId x, double epsilon) {
  const size_t h = b.columns(x);
  const TensorId gain = b.parameter(name + ".gain", {h}, kOnes, false);
  const TensorId bias = b.parameter(name + ".bias", {h}, kZeros, false);
  return b.layer_norm(name, x, gain, bias, epsilon);
}

TensorId attention_block(Builder& b, const std::string& name, TensorId x, TensorId residual,
                         TensorId mask, const TransformerShape& s, const BlockOptions& options) {
  const size_t h = s.hidden, head_size = h / s.heads;
  const size_t heads = s.heads / static_cast<size_t>(b.shard().size);
  const TensorId weight =
      b.parameter(name + ".attention.qkv.weight", {h, 3, s.heads, head_size}, kNormal, true);
  const TensorId bias =
      b.parameter(name + ".attention.qkv.bias", {3, s.heads, head_size}, kZeros, false);
  const TensorId out_weight = b.parameter(name + ".attention.out.weight", {s.heads, head_size, h},
                                          {Init::Kind::normal, options.residual_scale}, true);
  const TensorId out_bias = b.parameter(name + ".attention.out.bias", {h}, kZeros, false);
  TensorId qkv = b.matmul(name + ".qkv.product", b.enter_parallel(x), weight);
  qkv = b.bias_add(name + ".qkv", qkv, bias);
  const TensorId attended = b.attention(name + ".attention", qkv,
                                        {.batch = s.batch,
                                         .sequence = s.sequence,
                                         .heads = heads,
                                         .head_size = head_size,
                                         .causal = options.causal,
                                         .mask = mask,
                                         .lengths = options.lengths,
                                         .dropout = options.dropout});
  const TensorId partial = b.matmul(name + ".attention.out", attended, out_weight);
  return end_block(b, name + ".attended", partial, out_bias, residual, options);
}

TensorId mlp_block(Builder& b, const std::string& name, TensorId x, TensorId residual,
                   const TransformerShape& s, const BlockOptions& options) {
  const size_t h = s.hidden, inner = 4 * s.hidden;
  const TensorId up = b.parameter(name + ".mlp.up.weight", {h, inner}, kNormal, true);
  const TensorId up_bias = b.parameter(name + ".mlp.up.bias", {inner}, kZeros, false);
  const TensorId down = b.parameter(name + ".mlp.down.weight", {inner, h},
                                    {Init::Kind::normal, options.residual_scale}, true);
  const TensorId down_bias = b.parameter(name + ".mlp.down.bias", {h}, kZeros, false);
  TensorId y = b.matmul(name + ".mlp.up.product", b.enter_parallel(x), up);
  y = b.bias_add(name + ".mlp.up", y, up_bias);
  y = b.gelu(name + ".mlp.gelu", y, options.tanh_gelu);
  y = b.matmul(name + ".mlp.down", y, down);
  return end_block(b, name + ".mlp", y, down_bias, residual, options);
}

}  // namespace stallscope::trainer
