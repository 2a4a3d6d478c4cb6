// Where findings are, as the user would type and read it.
#pragma once

#include <string>
#include <vector>

#include "cli/source_analysis.h"
#include "rule/finding.h"

namespace stallscope {

/// The lines around each finding, and paths as the user would type them. Places in notebooks are
/// named by cell and by line within it: in the path `for_people`, else in the message.
void add_places(std::vector<Finding>& findings, const SourceAnalysis& source, bool for_people);

/// A message that begins "n.ipynb:8: ", of a line of the notebook's code, as its reader counts.
std::string with_cell(const std::string& message, const SourceAnalysis& source);

}  // namespace stallscope
