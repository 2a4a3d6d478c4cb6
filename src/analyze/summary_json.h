// RankSummary as text and back: what `--summary-only` writes on each node.
#pragma once

#include <string>
#include <string_view>

#include "analyze/summary.h"
#include "base/result.h"

namespace stallscope {

/// One JSON object without line breaks. Observation::events are left out: they refer to the trace.
std::string to_summary_json(const RankSummary& rank);

/// Reads what to_summary_json wrote. Anything else is an error that names `file`.
Result<RankSummary> from_summary_json(std::string_view text, const std::string& file);

}  // namespace stallscope
