// The words of a measured finding.
#pragma once

#include <string>
#include <string_view>

#include "base/units.h"
#include "rule/seen.h"

namespace stallscope {

/// As much of a name as a sentence or a title holds: C++ without its namespaces, then cut between
/// characters and marked as cut.
std::string short_name(std::string_view name);

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
