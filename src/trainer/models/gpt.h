// GPT: a pre-norm causal language model in GPT-2's form, tensor-parallel.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "trainer/program/builder.h"

namespace stallscope::trainer {

struct GptConfig {
  size_t layers = 2, hidden = 64, heads = 4, vocabulary = 256, sequence = 32, batch = 4;
  /// Attention adds the input "mask" [sequence, sequence] to its scores instead of being causal
  /// by itself: for programs that bring their own mask.
  bool explicit_mask = false;
  /// Positions come from the input "positions" [sequence, hidden] instead of being learned.
  bool explicit_positions = false;
  double dropout = 0;   ///< of embeddings, attention probabilities and what blocks add
  bool padded = false;  ///< input "lengths" [batch]: tokens behind a sequence's length are padding
  size_t parts =
      1;  ///< passes per step whose gradients add up, each a part of the mean over all replicas
  size_t counted = 0;  ///< tokens with a label, of all parts of this replica; 0: all
};

/// The training step of one rank. Inputs: "tokens" and "labels" (index, batch * sequence).
/// Sections: "embed", "layer.N", "head" and their ".backward", "optimizer". The scalar "loss"
/// is the mean cross-entropy. Error when the shapes do not divide.
Result<Program> build_gpt(const GptConfig& config, Shard shard);

}  // namespace stallscope::trainer
