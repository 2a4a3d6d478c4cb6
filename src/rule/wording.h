// The words of a measured finding.
#pragma once

#include <string>

#include "base/units.h"
#include "rule/seen.h"

namespace stallscope {

/// One sentence: what happens how often, what it waits for, what it costs.
/// `step_ns` 0 = unknown.
std::string describe(const Observation& observation, Ns step_ns);

/// What all rows of a finding come to, per step.
struct Totals {
  double count = 0, blocked_ns = 0, idle_ns = 0;
};

/// A second sentence, of all rows, where `described` is but one of several; else empty.
std::string describe_all(const Totals& all, const Observation& described, Ns step_ns);

}  // namespace stallscope
