// How a summary file, written by `report --summary-only`, begins. It is no trace, but a folder of
// inputs may hold some.
#pragma once

#include <string_view>

#include "import/importer.h"

namespace stallscope {

inline constexpr std::string_view kSummaryHead = "{\"stallscopeSummaries\":";

inline bool is_summary(const ImportSource& source) {
  return !source.is_directory && source.head.starts_with(kSummaryHead);
}

}  // namespace stallscope
