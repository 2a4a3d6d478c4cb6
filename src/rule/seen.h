// Seen: the observations of a run as the rule engine walks them, and which
// rules' trace conditions hold for each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "rule/rule.h"

namespace stallscope {

/// One observation, and the rank whose step it is measured against.
struct Seen {
  const Observation* observation = nullptr;
  const RankSummary* rank = nullptr;  ///< of a cross-rank observation: the slowest rank's

  ObservationView view() const;
  /// Seen only before the first steady step.
  bool startup_only() const;
};

/// All observations of all ranks, then those of their union, in the run's order.
std::vector<Seen> seen_observations(const RunSummary& run);

/// Whether amounts "per step" are those of a whole trace, in which no steps were found.
bool is_of_whole_trace(const Observation& observation);

/// A rule's trace condition that holds for one observation.
struct TraceMatch {
  uint32_t rule = 0;  ///< index into the rules
  const TraceCondition* condition = nullptr;
  Specificity specificity;
};

/// Best first: a project's own rules, those that name the operator, then the
/// narrower, the more severe, by id; advice and fallbacks last.
void sort_matches(std::span<const Rule> rules, std::vector<TraceMatch>& matches);

/// What the trace conditions say of one observation, the best match first.
struct TraceVerdict {
  std::vector<TraceMatch> matches;
  std::vector<uint32_t> undecided;  ///< rules whose fields this observation lacks
};
TraceVerdict judge(std::span<const Rule> rules, const Seen& seen);

/// Observations of one host block, of what one line rebuilds, or one of another
/// kind, on one rank: one finding at most.
using Block = std::vector<uint32_t>;  // indices into the seen observations
std::vector<Block> host_blocks(std::span<const Seen> seen);

/// Kinds that describe collectives: those of one line are one block.
bool is_collective_kind(std::string_view kind);

/// True for kinds that describe a host call which waits for the device.
bool is_host_block_kind(std::string_view kind);

}  // namespace stallscope
