// The numeric kernels, once per instruction set: one table of functions per
// element type, chosen when the program starts. Functions work on a range of
// rows (or columns), so that a thread team can split them without changing any
// result.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stallscope::trainer {

/// One product: C = base + op(A) op(B), all row-major. base may be null (zero) or C.
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
  size_t ldc;  ///< of C and base
};

/// Sizes of one rank's attention: `qkv` is [batch, sequence, 3, heads, head_size].
struct AttentionShape {
  size_t batch, sequence, heads, head_size;
  bool causal;
};

template <typename T>
struct KernelTable {
  const char* instruction_set;

  /// Rows [row_begin, row_end) of C.
  void (*gemm)(const Gemm<T>& g, size_t row_begin, size_t row_end);

  void (*gelu_forward)(T* y, const T* x, size_t begin, size_t end, bool tanh_form);
  void (*gelu_backward)(T* dx, const T* dy, const T* x, size_t begin, size_t end, bool tanh_form);
  /// y = x + bias + residual; bias and residual may be null.
  void (*bias_add)(T* y, const T* x, const T* bias, const T* residual, size_t columns, size_t begin,
                   size_t end);
  /// out[c] = base[c] + sum over rows of x[., c], for columns [begin, end).
  void (*column_sum)(T* out, const T* base, const T* x, size_t rows, size_t columns, size_t begin,
                     size_t end);
  /// y = a * x + b * y over [begin, end).
  void (*axpby)(T* y, const T* x, T a, T b, size_t begin, size_t end);

  void (*layer_norm_forward)(T* y, T* mean, T* rstd, const T* x, const T* gain, const T* bias,
                             size_t columns, T epsilon, size_t begin, size_t end);
  void (*layer_norm_backward)(T* dx, const T* base, const T* dy, const T* x, const T* gain,
                              const T* mean, const T* rstd, size_t columns, size_t begin,
                              size_t end);
  /// Gradients of gain and bias for columns [begin, end).
  void (*layer_norm_parameters)(T* dgain, T* dbias, const T* dgain_base, const T* dbias_base,
                                const T* dy, const T* x, const T* mean, const T* rstd, size_t rows,
                                size_t columns, size_t begin, size_t end);

  /// Pairs (sample, head) [begin, end). `mask` is [sequence, sequence] added to scores, or null.
  void (*attention_forward)(T* out, T* probabilities, const T* qkv, const T* mask,
                            const AttentionShape& shape, size_t begin, size_t end);
  void (*attention_backward)(T* dqkv, const T* dout, const T* qkv, const T* probabilities,
                             T* scratch, const AttentionShape& shape, size_t begin, size_t end);

  /// out[r] = table[tokens[r] - first], zero when the token is not of this shard.
  void (*embedding_forward)(T* out, const T* table, const int32_t* tokens, size_t columns,
                            int32_t first, int32_t count, size_t begin, size_t end);
  /// Adds rows of dy to the table's gradient, for columns [begin, end).
  void (*embedding_backward)(T* dtable, const T* dy, const int32_t* tokens, size_t rows,
                             size_t columns, int32_t first, int32_t count, size_t begin,
                             size_t end);

  /// The softmax of a vocabulary shard in two steps, with the all-reduces between them.
  void (*row_max)(T* maximum, const T* logits, size_t columns, size_t begin, size_t end);
  /// logits become exp(logits - max); sums[r] their sum; targets[r] the target's logit - max.
  void (*softmax_partial)(T* logits, T* sums, T* targets, const T* maximum, const int32_t* labels,
                          size_t columns, int32_t first, size_t begin, size_t end);
  /// logits become their gradient; losses[r] the loss of row r. Rows labelled -1 count nothing.
  void (*cross_entropy)(T* logits, T* losses, const T* sums, const T* targets,
                        const int32_t* labels, T scale, size_t columns, int32_t first, size_t begin,
                        size_t end);

  struct Adam {
    T rate, beta1, beta2, epsilon, decay, correction1, correction2;
  };
  void (*adamw)(T* parameter, T* m, T* v, const T* gradient, const Adam& adam, size_t begin,
                size_t end);
  /// Sum of squares of [begin, end).
  double (*sum_of_squares)(const T* x, size_t begin, size_t end);
};

/// The best table this machine runs.
template <typename T>
const KernelTable<T>& kernels();

}  // namespace stallscope::trainer
