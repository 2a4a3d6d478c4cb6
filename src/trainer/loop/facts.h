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

/// Measures the program's products and writes everything as JSON to `path`.
Status write_facts(const std::string& path, Session<float>& session, const MemoryFacts& memory,
                   const StepEnds& ends, const ProductLibrary* library, size_t dead_after);

}  // namespace stallscope::trainer
