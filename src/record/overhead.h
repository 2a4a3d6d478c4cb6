// What recording costs, from runs in pairs with and without it.
#pragma once

#include <span>

#include "base/units.h"
#include "trace/run_manifest.h"

namespace stallscope {

struct PairedRun {
  Ns with = 0, without = 0;  ///< wall time
};

/// Mean relative difference and its 95 % interval by Student's t. A pair shares
/// what the machine did at the time, so that differences vary less than times.
/// Fewer than two pairs, or times of zero, give no interval: nullopt.
std::optional<PairedOverhead> paired_overhead(std::span<const PairedRun> pairs);

}  // namespace stallscope
