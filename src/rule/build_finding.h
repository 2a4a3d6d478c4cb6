// From claims and facts to Findings: places, evidence, price, severity, words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rule/claims.h"
#include "rule/gain.h"

namespace stallscope {

/// One finding of all claims of one rule on one place, on whatever ranks.
/// `claims` is not empty.
Finding measured_finding(const Rule& rule, std::span<const Claim* const> claims,
                         std::span<const Seen> seen, std::span<const SourceFact> facts,
                         const RankSummary* slowest);

/// A source match that met no observation.
Finding unmeasured_finding(const Rule& rule, const SourceFact& fact);

/// Where the finding of `claim` is: the source match's own place, else the observation's.
Place place_of(const Claim& claim, std::span<const Seen> seen, std::span<const SourceFact> facts);

/// The place of a source match.
Place place_of(const SourceFact& fact);

}  // namespace stallscope
