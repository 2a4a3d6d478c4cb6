// GitLab code quality report: a subset of the Code Climate format.
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "report/findings_format.h"
#include "report/json_parts.h"
#include "report/present.h"

namespace stallscope {
namespace {

/// GitLab counts entries of one fingerprint once, and ours is the same for equal code in two files.
std::string unique_fingerprint(const Finding& finding, const std::string& path) {
  return content_hash(finding.fingerprint + "\n" + path);
}

std::string_view gitlab_severity(const Finding& finding) {
  if (finding.advice) return "info";
  switch (finding.severity) {
    case Severity::critical:
      return "critical";
    case Severity::high:
      return "major";
    case Severity::medium:
      return "minor";
    case Severity::low:
    case Severity::info:
      return "info";
  }
  return "info";
}

Result<std::string> render_gitlab(const FindingsList& list) {
  Json out = Json::array();
  for (const Finding& finding : list.findings) {
    const Place& place = primary_place(finding);
    // The format demands a place; a finding without one is put on the project as a whole.
    std::string path = place.file.empty() ? "." : place.file;
    if (path.starts_with("./")) path.erase(0, 2);
    out.push_back(
        {{"description", finding_paragraph(finding)},
         {"check_name", finding.rule_id},
         {"fingerprint", unique_fingerprint(finding, path)},
         {"severity", gitlab_severity(finding)},
         {"location", {{"path", path}, {"lines", {{"begin", place.line == 0 ? 1 : place.line}}}}}});
  }
  return dump(out, 1) + "\n";
}

constexpr FindingsFormat kGitlabFormat{"gitlab", "gl-code-quality-report.json",
                                       "GitLab code quality report", render_gitlab};
const RegisterFindingsFormat kGitlabFindings(kGitlabFormat);
const RegisterFormat kGitlabReport({kGitlabFormat.name, kGitlabFormat.file_name,
                                    kGitlabFormat.description, render_findings_of<render_gitlab>});

}  // namespace
}  // namespace stallscope
