// Formats that need findings and rules only: shared by `report`, `run` and `lint`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace stallscope {

/// What a findings format writes.
struct FindingsList {
  std::span<const Finding> findings;  ///< written in this order: rank_findings() first
  std::span<const RuleMeta> rules;
  std::span<const std::string> notes =
      {};  ///< what could not be read, or was left out; a line each
};

/// One format of a list of findings. Registers itself; nothing else names it.
struct FindingsFormat {
  std::string_view name;  ///< "sarif", "junit", "github", "gitlab", ...
  std::string_view file_name;
  std::string_view description;
  Result<std::string> (*render)(const FindingsList& list) = nullptr;
};
struct RegisterFindingsFormat {
  explicit RegisterFindingsFormat(const FindingsFormat& format);
};

/// An unknown format is an error that names the known ones.
Result<std::string> render_findings(std::string_view format, const FindingsList& list);
std::vector<FindingsFormat> findings_formats();

/// A findings format as a report's: what a report adds is left out.
template <auto Render>
Result<std::string> render_findings_of(const Report& report) {
  return Render({report.findings, report.rules, report.warnings});
}

/// The SARIF and annotation level: "error", "warning" or "note"; advice is always a note.
std::string_view finding_level(const Finding& finding);

/// A file's path as a relative URI reference with forward slashes, or a file: URI when absolute.
std::string file_uri(std::string_view path);

/// Title, message and gain as one plain paragraph.
std::string finding_paragraph(const Finding& finding);

/// Where else advice holds, or what a finding is about beside its own line: "also at b.py:7,
/// c.py:12 and 3 more"; empty when nowhere.
std::string other_places_text(const Finding& finding);

}  // namespace stallscope
