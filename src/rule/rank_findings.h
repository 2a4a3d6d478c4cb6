// The order of findings, and the rank they are measured against.
#pragma once

#include <vector>

#include "analyze/summary.h"
#include "rule/finding.h"

namespace stallscope {

/// What a finding was seen to take on the device, in ns per step; 0 when nothing says so. Its order
/// when no step time says what a gain would be.
double seen_cost(const Finding& finding);

/// Orders by predicted gain on step time, then one-time gain, then severity;
/// advice last among equals. Ties are broken by rule, place and fingerprint, so
/// the order never depends on that of the input.
void rank_findings(std::vector<Finding>& findings);

/// The rank that the headline speaks of: the one with the longest median step
/// among those that did not abstain (ties: the first); nullptr when there is none.
const RankSummary* slowest_rank(const RunSummary& summary);

/// The mean of the used steps, in ns: what a gain per step, itself a mean, is a part of. (The
/// median is much less where some steps do more, as the roll-outs of reinforcement learning.) 0 =
/// no steps.
Ns mean_step(const RankSummary& rank);

}  // namespace stallscope
