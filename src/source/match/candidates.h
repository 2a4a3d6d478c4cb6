// Candidates: the places of one file where a clause's own conditions hold.
#pragma once

#include "source/guards/switches.h"
#include "source/match/ruleset.h"

namespace stallscope {

/// Appends them to `facts.candidates`, in order of place and rule.
void collect_candidates(const FileView& file, const RuleSet& rules, uint32_t language,
                        Switches& switches, FileFacts& facts);

}  // namespace stallscope
