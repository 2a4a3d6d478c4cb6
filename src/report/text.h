// The terminal's view of a report and of findings.
#pragma once

#include <span>
#include <string>

#include "report/report.h"

namespace stallscope {

struct TextStyle {
  bool colour = false;  ///< ANSI colours
  size_t width = 80;    ///< characters of a line of the bar
};

/// Headline, bar, breakdown and the first findings of a report.
std::string text_summary(const Report& report, const TextStyle& style);

/// One finding after the other, each with its line of source.
std::string text_findings(std::span<const Finding> findings, const TextStyle& style);

}  // namespace stallscope
