// CLT: a cross-layer transcoder. Each layer's encoder finds sparse features; the
// output of layer t is decoded from the features of all layers up to t.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "trainer/program/builder.h"

namespace stallscope::trainer {

/// Which features stay active: the k * batch largest z-scores of the batch, the k largest z-scores
/// of each token, or those above a learned threshold.
enum class CltActivation : uint8_t { batch_top_k, token_top_k, jump_relu };

struct CltConfig {
  size_t layers = 2, width = 16, features = 512, batch = 128;
  size_t k = 8;  ///< features kept per token, over all layers (on average, for BatchTopK)
  /// Active features are kept as a list and only their rows of the decoder are touched; else the
  /// decoder is multiplied whole, by a mask of BatchTopK, and the loss is the reconstruction's
  /// alone.
  bool sparse = false;
  bool reduce_each_decoder = false;  ///< dense: a sum over the group for each, as naive code does
  CltActivation activation = CltActivation::batch_top_k;

  // Of the sparse form.
  double penalty_scale = 1;     ///< c of tanh(c * norm * value); no such penalty for BatchTopK
  double preactivation = 3e-6;  ///< factor of the mean of max(-preactivation, 0)
  size_t auxiliary_k = 512;     ///< dead features per token that decode the residual; 0: none do
  double auxiliary = 1.0 / 32;  ///< factor of their squared error
  size_t dead_after = 1000;     ///< steps without activity after which a feature is dead
  double threshold = 0.03;      ///< JumpReLU: initial
  double bandwidth = 1;         ///< JumpReLU: of the threshold's gradient
};

/// The training step of one rank. Inputs "inputs" and "targets", both [layers * batch, width], and
/// in the sparse form with a sparsity penalty its factor, "sparsity" [1].
/// `batch` is one replica's. Statistics, selection and losses are those of the batch of all
/// replicas. Features are sharded: the encoder's shard is the decoder's, so activations are never
/// gathered and the outputs of all layers are summed over the group at once.
/// Sections: "encode", "select" (dense: writes "mask", 0 or 1 per element of "pre"), "decode",
/// their
/// ".backward", "optimizer". The scalar "loss" is the mean squared error summed over layers, and in
/// the sparse form the penalties; "loss.parts" has reconstruction, auxiliary, sparsity and
/// pre-activation. The sparse form overwrites "pre" with its gradient.
Result<Program> build_clt(const CltConfig& config, Shard shard);

}  // namespace stallscope::trainer
