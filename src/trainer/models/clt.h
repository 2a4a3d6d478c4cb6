// CLT: a cross-layer transcoder. Each layer's encoder finds sparse features; the
// output of layer t is decoded from the features of all layers up to t.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "trainer/program/builder.h"

namespace stallscope::trainer {

struct CltConfig {
  size_t layers = 2, width = 16, features = 512, batch = 128;
  size_t k = 8;  ///< features kept per token, on average over the batch (BatchTopK)
};

/// The training step of one rank. Inputs "inputs" and "targets", both [layers * batch, width].
/// Features are sharded: the encoder's shard is the decoder's, so activations are never
/// gathered and the outputs of all layers are summed over the group at once.
/// Sections: "encode", "select" (writes "mask", 0 or 1 per element of "pre"), "decode", their
/// ".backward", "optimizer". The scalar "loss" is the mean squared error summed over layers.
Result<Program> build_clt(const CltConfig& config, Shard shard);

}  // namespace stallscope::trainer
