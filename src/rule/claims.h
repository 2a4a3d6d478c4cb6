// Claims: who speaks for each block of observations. One host block is one
// finding: the rule matched in source at its line, else the operator's rule,
// else another rule's trace condition, else a fallback; the rest are related.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rule/evaluate.h"
#include "rule/file_join.h"
#include "rule/line_verdicts.h"
#include "rule/seen.h"

namespace stallscope {

struct Claim {
  uint32_t rule = 0;
  Block block;
  std::optional<uint32_t> fact;               ///< the source match it met
  const TraceCondition* condition = nullptr;  ///< that held; nullptr when only the line met
  std::vector<std::string> related;           ///< other rules' ids, sorted
  /// The rule's matches that may be meant where no line of the trace meets one: where a profiler
  /// names the function but not the line, those in it (one is `fact`; of several none can be told
  /// to be it), and of a wait for input those that may make the loader.
  std::vector<uint32_t> candidates;
  bool is_made_there = false;  ///< the candidates make what is waited for, and do not wait
};

struct Claims {
  std::vector<Claim> claims;
  std::vector<bool> fact_used;  ///< by fact: part of a claim, as winner or related
  std::vector<bool> fact_ran;   ///< by fact: some event of the run lies on its lines
  /// By fact: the claim of a block that what its lines call made, of a kind that its rule is about.
  std::vector<std::optional<uint32_t>> fact_waited_below;
  std::vector<bool> rule_decided;    ///< by rule: its condition could be decided at least once
  std::vector<bool> rule_undecided;  ///< by rule: fields were missing at least once
};

Claims make_claims(std::span<const Rule> rules, std::span<const Seen> seen,
                   std::span<const SourceFact> facts, const FileJoin& files,
                   const LineVerdicts& lines);

}  // namespace stallscope
