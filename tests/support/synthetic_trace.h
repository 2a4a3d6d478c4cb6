// A large training trace made in memory, for benchmarks and scale tests.
#pragma once

#include "trace/trace.h"

namespace stallscope {

struct SyntheticShape {
  size_t events = 1'000'000;
  uint32_t steps = 200;
  uint64_t seed = 1;
};

/// One process of eight tracks (six threads, two streams): 45 % api calls, 35 % kernels with
/// correlation, the rest ranges, copies and synchronisations with stacks. Finished.
Trace synthetic_trace(const SyntheticShape& shape);

}  // namespace stallscope
