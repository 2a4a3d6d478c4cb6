// Training data for a transcoder: what a trained GPT computes on real text.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stallscope::trainer {

struct ActivationOptions {
  std::string text;  ///< path of the text
  size_t layers = 2, width = 16, samples = 1024;
  int device = 0;           ///< the number of the device it runs on
  int training_steps = 40;  ///< of the GPT before its activations are taken
};

struct Activations {
  size_t layers = 0, width = 0, samples = 0;
  /// [layers, samples, width]: what enters each layer's MLP, and what it adds to the residual
  /// stream; each layer scaled to unit mean square.
  std::vector<float> inputs, targets;
};

/// Trains a small GPT for a moment and takes its activations. The same on every rank.
Result<Activations> take_activations(const ActivationOptions& options);

}  // namespace stallscope::trainer
