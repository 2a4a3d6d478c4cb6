// What a run says of a source match that no observation speaks for.
#pragma once

#include <string>

#include "rule/finding.h"
#include "rule/line_verdicts.h"
#include "rule/outcome.h"

namespace stallscope {

/// Where the run stands towards one source match.
struct Sighting {
  LineVerdict lines = LineVerdict::unknown;
  bool in_trace = false;                  ///< events of the trace lie on its lines
  const Finding* waited_below = nullptr;  ///< of what its lines call, where that blocked
  bool loaded = false;                    ///< the run told that it loaded the file
  bool told_any = false;                  ///< and that it loaded some file known here
};

/// Sets status, severity and order of `finding`, and says in its message why. `recorded_part` as
/// in EvaluateOptions.
void set_status(Finding& finding, const Rule& rule, const SourceFact& fact,
                const Sighting& sighting, const RunReach& reach, const std::string& recorded_part);

}  // namespace stallscope
