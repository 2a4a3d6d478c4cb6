// What lint could not read, or not all of.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/source_analysis.h"

namespace stallscope {

/// What was named or lies in named folders and is not read, or of which a smaller share than
/// `least` could be parsed; a line each.
std::vector<std::string> reading_notes(const SourceAnalysis& source, double least);

/// An error where a notebook that was itself named is none: nothing found would read as clean.
Status expect_named_notebooks(const SourceAnalysis& source);

}  // namespace stallscope
