// What a run knows of itself and a recording does not show: work by kernel, how
// fast its products run alone, memory.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {

/// When each step of a run was done, by the device's own clock.
using StepEnds = std::vector<Ns>;

struct MemoryFacts {
  double planned_bytes = 0;  ///< of all arenas
  double minimum_bytes = 0;  ///< with the activations live at once at most
};

/// What the program itself does not know.
struct StepFacts {
  size_t parts = 1;       ///< passes per step
  size_t tokens = 0;      ///< per step, without padding
  size_t dead_after = 0;  ///< of a transcoder's features
  /// Sizes as they were trained, defaults included; 0 where the model has none.
  size_t heads = 0, vocabulary = 0, features = 0, k = 0;
};

/// Measures the program's products and writes everything as JSON to `path`.
Status write_facts(const std::string& path, Session<float>& session, const MemoryFacts& memory,
                   const StepEnds& ends, const ProductLibrary* library, const StepFacts& step);

}  // namespace stallscope::trainer
