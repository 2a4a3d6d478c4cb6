// The names of severities, states and fix grades, as reports and rule files spell them.
#include <array>

#include "rule/finding.h"

namespace stallscope {

std::string_view to_string(Severity severity) {
  return kSeverityNames[kSeverityNames.size() - 1 - static_cast<size_t>(severity)];
}

std::string_view to_string(FindingStatus status) {
  static constexpr std::array<std::string_view, 4> kNames = {"measured", "static-only", "not-seen",
                                                             "not-executed"};
  return kNames[static_cast<size_t>(status)];
}

std::string_view to_string(Applicability applicability) {
  static constexpr std::array<std::string_view, 3> kNames = {"safe", "suggestion", "display"};
  return kNames[static_cast<size_t>(applicability)];
}

std::optional<Severity> severity_of(std::string_view text) {
  for (size_t i = 0; i < kSeverityNames.size(); ++i)
    if (kSeverityNames[i] == text) return static_cast<Severity>(kSeverityNames.size() - 1 - i);
  return std::nullopt;
}

}  // namespace stallscope
