// The blocks that BERT and GPT share.
#pragma once

#include <string>

#include "base/result.h"
#include "trainer/program/builder.h"

namespace stallscope::trainer {

struct TransformerShape {
  size_t layers, hidden, heads, vocabulary, sequence, batch;
};

/// Whether the shape makes sense and divides over the group.
Status check(const TransformerShape& shape, Shard shard);

struct BlockOptions {
  bool causal = true;
  bool tanh_gelu = true;
  double residual_scale = 0.02;  ///< initial deviation of the weights that end a block
  double dropout = 0;            ///< of probabilities and of what a block adds
  TensorId lengths = kNoTensor;
};

TensorId norm(Builder& b, const std::string& name, TensorId x, double epsilon = 1e-5);

/// residual + attention(x), column- then row-parallel, with one all-reduce.
TensorId attention_block(Builder& b, const std::string& name, TensorId x, TensorId residual,
                         TensorId mask, const TransformerShape& shape, const BlockOptions& options);

/// residual + mlp(x), column- then row-parallel, with one all-reduce.
TensorId mlp_block(Builder& b, const std::string& name, TensorId x, TensorId residual,
                   const TransformerShape& shape, const BlockOptions& options);

}  // namespace stallscope::trainer
