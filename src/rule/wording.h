// The words of a measured finding.
#pragma once

#include <string>

#include "base/units.h"
#include "rule/seen.h"

namespace stallscope {

/// One sentence: what happens how often, what it waits for, what it costs.
/// `step_ns` 0 = unknown.
std::string describe(const Observation& observation, Ns step_ns);

}  // namespace stallscope
