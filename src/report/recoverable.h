// What fixing all findings would save, although their gains overlap.
#pragma once

#include <optional>
#include <vector>

#include "analyze/summary.h"
#include "rule/finding.h"

namespace stallscope {

/// What fixing everything would save per step. The lower end is the best single finding's. Middle
/// and upper end are sums in which time counts once: of findings of which one lies below the other
/// on the stack, or that share a line, the dearest counts; what holds up the whole step takes its
/// share of what the others leave. They are capped by the step time minus the compute that remains
/// (but never below the best single one). All zero when nothing was found; unknown when no measured
/// finding has a price.
std::optional<Gain::Range> recoverable_range(const std::vector<Finding>& findings,
                                             const RankSummary& rank);

}  // namespace stallscope
