// BERT: a post-norm encoder trained to restore masked tokens, tensor-parallel.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "trainer/program/builder.h"

namespace stallscope::trainer {

struct BertConfig {
  size_t layers = 2, hidden = 64, heads = 4, vocabulary = 256, sequence = 32, batch = 4;
  size_t masked = 19;      ///< labels per batch that count: 15 % of the tokens
  bool tanh_gelu = false;  ///< the exact (erf) form otherwise
  /// Only masked tokens are projected on the vocabulary: the same loss and gradients with less
  /// work.
  bool masked_head = false;
  double dropout = 0;   ///< of embeddings, attention probabilities and what blocks add
  bool padded = false;  ///< input "lengths" [batch]: tokens behind a sequence's length are padding
  size_t parts =
      1;  ///< passes per step whose gradients add up, each a part of the mean over all replicas
};

/// The training step of one rank. Inputs: "tokens" and "labels" (index, batch * sequence; label -1
/// where the token was not masked); with masked_head, "labels" has `masked` elements and the index
/// input "masked" says which rows they belong to. All tokens are of segment 0. Sections as in
/// build_gpt.
Result<Program> build_bert(const BertConfig& config, Shard shard);

}  // namespace stallscope::trainer
