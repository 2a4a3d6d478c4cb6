// The reference run: real kernels, no modelled time, a loop with no stall in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "trainer/models/clt.h"
#include "trainer/program/lower.h"

namespace stallscope::trainer {

struct BenchOptions {
  std::string model = "gpt";                   ///< "gpt", "bert" or "clt"
  size_t layers = 4, hidden = 768, heads = 0;  ///< heads 0: hidden / 64, at least one per rank
  size_t batch = 8, sequence = 128, vocabulary = 0;  ///< 0: the model's own
  size_t features = 4096, k = 32;                    ///< of the transcoder
  CltActivation activation = CltActivation::batch_top_k;
  bool dense_decoder = false;
  double sparsity = 0;       ///< factor of the transcoder's sparsity penalty
  size_t dead_after = 1000;  ///< steps after which a feature counts as dead
  int ranks = 1;             ///< that share the model's tensors
  int replicas = 1;          ///< of those, each with its part of the batch
  bool overlap = false;      ///< collectives beside computation where possible
  bool splits_rows = false;  ///< sequence parallelism, between the parallel blocks
  int steps = 5;
  Precision precision = Precision::fp32;
  bool masked_head = false;  ///< bert: project only masked tokens on the vocabulary
  bool own_kernels = false;  ///< no product library
  double dropout = 0;        ///< of embeddings, attention and what blocks add
  double padding = 0;        ///< share of tokens that are padding, at most a half
  size_t parts = 1;          ///< of the batch, one after another, gradients added up
  bool recompute = false;    ///< layers compute their activations again in the backward pass
  double rate = 1e-4;        ///< of AdamW
  std::string save, resume;  ///< checkpoints to write at the end and to start from; empty: none
  std::string record;        ///< where the run is written for an independent check; empty: nowhere
  std::string facts;         ///< where rank 0 writes what a recording cannot tell; empty: nowhere
};

/// Trains for `steps` steps, each an NVTX range "step". Rank 0 prints "loss X" as its last line.
/// Returns the exit code; 2 with a message when the shape makes no sense or does not fit.
int run_bench(const BenchOptions& options);

}  // namespace stallscope::trainer
