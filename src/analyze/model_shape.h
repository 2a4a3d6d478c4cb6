// The shape of a transformer, as the input shapes of its operators tell it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stallscope {

struct ModelShape {
  std::string model;  ///< "bert" with a table of segments beside tokens and positions, else "gpt"
  int64_t layers = 0, hidden = 0, heads = 0, batch = 0, sequence = 0, vocabulary = 0;
  int64_t ranks = 1;  ///< that share the heads

  /// "model=bert,layers=4,..."
  std::string text() const;
};

/// From token embeddings and attention with recorded shapes; nothing when one of them is not there
/// or they do not fit together.
std::optional<ModelShape> model_shape(const Trace& trace);

/// "[[8, 128], [], [2]]" as lists of sizes; empty when it is no such text.
std::vector<std::vector<int64_t>> parse_dimensions(std::string_view text);

}  // namespace stallscope
