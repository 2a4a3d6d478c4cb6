// The numeric kernels, once per instruction set: one table of functions per
// element type, chosen when the program starts. Functions work on a range of
// rows (or columns), so that a thread team can split them without changing any
// result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace stallscope::trainer {

/// One product: C = base + bias + op(A) op(B), all row-major. base may be null (zero) or C.
template <typename T>
struct Gemm {
  size_t m, n, k;
  const T* a;
  size_t lda;
  bool transpose_a;
  const T* b;
  size_t ldb;
  bool transpose_b;
  const T* base;
  T* c;
  size_t ldc;               ///< of C and base
  const T* bias = nullptr;  ///< [n], added to every row; may be null
};

/// Where numbers lie: as T, or in bf16.
template <typename T>
struct Numbers {
  T* real = nullptr;
  std::conditional_t<std::is_const_v<T>, const uint16_t, uint16_t>* half = nullptr;
};

/// Which elements are dropped: a function of `stream`, row and column; the others are multiplied.
struct Dropout {
  uint64_t stream = 0;
  uint32_t threshold = 0;  ///< of 2^32: the share that is dropped; 0: none
  double factor = 1;       ///< 1 / (1 - share)
  uint64_t first_row = 0;  ///< of these in the whole tensor
};

/// Sizes of one rank's attention: `qkv` is [batch, sequence, 3, heads, head_size].
struct AttentionShape {
  size_t batch, sequence, heads, head_size;
  bool causal;
  /// Null, or [batch]: what lies behind a sample's length is neither seen nor computed.
  const int32_t* lengths = nullptr;
  Dropout dropout{};  ///< of probabilities; a row for each (sample, head of all ranks, query)
  size_t first_head = 0, all_heads = 0;

  size_t length(size_t pair) const {
    if (lengths == nullptr) return sequence;
    const int32_t given = lengths[pair / heads];
    return given < 0                               ? 0
           : static_cast<size_t>(given) < sequence ? static_cast<size_t>(given)
                                                   : sequence;
  }
  uint64_t dropout_row(size_t pair, size_t query) const {
    return ((pair / heads) * all_heads + first_head + pair % heads) * sequence + query;
  }
};

/// A decoder's row and the entries of its feature in the backward pass:
/// dw (+)= pull * w + sum of value * dy; value_gradient += dy . w for each entry.
template <typename T>
struct SparseFeature {
  const T *w, *next_w;  ///< next_w: fetched ahead, unless null
  T* dw;
  T pull;
  const T* errors;  ///< dy: [tokens, width]
  size_t width;
  const int32_t* entry;          ///< numbers of the feature's entries
  size_t entries, next_entries;  ///< next_entries: those of the next feature, fetched ahead
  const int32_t* row;            ///< token, by entry
  const T* value;                ///< by entry
  T* value_gradient;             ///< by entry
  bool add;                      ///< to dw; else it is set
  bool past_caches;  ///< dw is written past the caches: finish_writes() before others read it
};

template <typename T>
struct KernelTable {
  const char* instruction_set;

  /// Rows [row_begin, row_end) of C.
  void (*gemm)(const Gemm<T>& g, size_t row_begin, size_t row_end);

  void (*gelu_forward)(Numbers<T> y, Numbers<const T> x, size_t begin, size_t end, bool tanh_form);
  void (*gelu_backward)(Numbers<T> dx, Numbers<const T> dy, Numbers<const T> x, size_t begin,
                        size_t end, bool tanh_form);
  /// y = x + bias + residual; bias and residual may be null.
  void (*bias_add)(T* y, const T* x, const T* bias, const T* residual, size_t columns, size_t begin,
                   size_t end);
  /// out[c] = base[c] + sum over rows of x[., c], for columns [begin, end).
  void (*column_sum)(T* out, const T* base, Numbers<const T> x, size_t rows, size_t columns,
                     size_t begin, size_t end);
  /// y = a * x + b * y over [begin, end).
  void (*axpby)(T* y, const T* x, T a, T b, size_t begin, size_t end);

  void (*layer_norm_forward)(Numbers<T> y, T* mean, T* rstd, const T* x, const T* gain,
                             const T* bias, size_t columns, T epsilon, size_t begin, size_t end);
  void (*layer_norm_backward)(T* dx, const T* base, const T* dy, const T* x, const T* gain,
                              const T* mean, const T* rstd, size_t columns, size_t begin,
                              size_t end);
  /// Gradients of gain and bias for columns [begin, end).
  void (*layer_norm_parameters)(T* dgain, T* dbias, const T* dgain_base, const T* dbias_base,
                                const T* dy, const T* x, const T* mean, const T* rstd, size_t rows,
                                size_t columns, size_t begin, size_t end);

  /// Pairs (sample, head) [begin, end). `mask` is [sequence, sequence] added to scores, or null.
  /// Probabilities are never stored: the forward pass keeps the logarithm of each row's sum,
  /// `log_sums` [batch, heads, sequence], and the backward pass computes them again.
  /// `scratch` holds attention_scratch() elements.
  void (*attention_forward)(Numbers<T> out, T* log_sums, const T* qkv, const T* mask,
                            const AttentionShape& shape, T* scratch, size_t begin, size_t end);
  void (*attention_backward)(Numbers<T> dqkv, const T* dout, const T* qkv, const T* log_sums,
                             const T* mask, const AttentionShape& shape, T* scratch, size_t begin,
                             size_t end);
  /// Elements of scratch that one thread needs, forwards or backwards.
  size_t (*attention_scratch)(const AttentionShape& shape);

  /// out[r] = table[tokens[r] - first], zero when the token is not of this shard.
  void (*embedding_forward)(T* out, const T* table, const int32_t* tokens, size_t columns,
                            int32_t first, int32_t count, size_t begin, size_t end);
  /// Adds rows of dy to the table's gradient, for columns [begin, end).
  void (*embedding_backward)(T* dtable, const T* dy, const int32_t* tokens, size_t rows,
                             size_t columns, int32_t first, int32_t count, size_t begin,
                             size_t end);

  /// The softmax of a vocabulary shard in two steps, with the all-reduces between them.
  /// Rows labelled -1 count nothing.
  void (*row_max)(T* maximum, Numbers<const T> logits, const int32_t* labels, size_t columns,
                  size_t begin, size_t end);
  /// sums[r] = sum of exp(logits - maximum); targets[r] the target's logit - maximum.
  void (*softmax_partial)(T* sums, T* targets, Numbers<const T> logits, const T* maximum,
                          const int32_t* labels, size_t columns, int32_t first, size_t begin,
                          size_t end);
  /// logits become their gradient; losses[r] the loss of row r.
  void (*cross_entropy)(Numbers<T> logits, T* losses, const T* maximum, const T* sums,
                        const T* targets, const int32_t* labels, T scale, size_t columns,
                        int32_t first, size_t begin, size_t end);
  /// All of it for a whole vocabulary: logits become their gradient in one visit of each row.
  /// `scratch` holds a row where logits are in bf16.
  void (*softmax_cross_entropy)(Numbers<T> logits, T* losses, const int32_t* labels, T scale,
                                size_t columns, T* scratch, size_t begin, size_t end);

  /// p = kept * p - step * m / (root * sqrt(v) + epsilon): bias corrections and the rate are
  /// folded into step = rate / (1 - beta1^t) and root = 1 / sqrt(1 - beta2^t).
  struct Adam {
    T beta1, beta2, epsilon, kept, step, root;
  };
  /// `half`, unless null, receives the new parameters in bf16.
  void (*adamw)(T* parameter, T* m, T* v, const T* gradient, uint16_t* half, const Adam& adam,
                size_t count);
  /// Sum of squares of [begin, end).
  double (*sum_of_squares)(const T* x, size_t begin, size_t end);

  /// Mean and sum of squared deviations over the batch of features [begin, end); pre is
  /// [batch, features]. Each feature's result is independent of the range.
  void (*feature_statistics)(T* mean, T* squares, const T* pre, size_t batch, size_t features,
                             size_t begin, size_t end);
  /// Which elements of some rows of `count` have (x[i] - mean[i]) * scale[i] >= threshold: one bit
  /// each, every row from a word of its own.
  void (*find_above)(uint64_t* bits, const T* x, size_t rows, size_t count, const T* mean,
                     const T* scale, T threshold);
  /// y = base + x where kept, times the factor; base may be null.
  void (*dropout)(T* y, const T* x, const T* base, const Dropout& drop, size_t columns,
                  size_t begin, size_t end);
  /// Sum of max(-x, 0) over [begin, end); x becomes -factor where it is negative, else 0.
  T (*negative_part)(T* x, T factor, size_t begin, size_t end);
  /// y += sum over entries of value[e] * w[feature[e] * stride ...], `width` elements each.
  void (*sparse_row)(T* y, const T* value, const int32_t* feature, size_t entries, const T* w,
                     size_t stride, size_t width);
  void (*sparse_feature_backward)(const SparseFeature<T>& feature);

  void (*convert_half)(uint16_t* to, const T* from, size_t begin, size_t end);
  /// to[c][r] = from[r][c] in bf16, for columns [begin, end) of from.
  void (*transpose_half)(uint16_t* to, const T* from, size_t rows, size_t columns, size_t begin,
                         size_t end);
  void (*transpose_halves)(uint16_t* to, const uint16_t* from, size_t rows, size_t columns,
                           size_t begin, size_t end);
};

/// The best table this machine runs.
template <typename T>
const KernelTable<T>& kernels();

}  // namespace stallscope::trainer
