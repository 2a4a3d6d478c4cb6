// What `lint` found, in numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/source_analysis.h"
#include "rule/finding.h"

namespace stallscope {

/// "1 finding", "2 findings".
std::string counted(size_t count, std::string_view what);

/// Advice holds for the project, so it is shown once per rule, with all its places.
void join_advice(std::vector<Finding>& findings);

/// Findings by rule, the most frequent first.
std::string statistics_text(const std::vector<Finding>& findings, bool as_json);

/// Lines of the chosen files that run in every step or forward pass.
size_t step_lines(const SourceAnalysis& source);

/// "3 findings in 2 of 40 files: 1 critical, 2 medium". Advice is counted by severity as well.
std::string totals_text(const std::vector<Finding>& findings, const SourceAnalysis& source);

}  // namespace stallscope
