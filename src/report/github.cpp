// GitHub workflow commands: annotations on the lines of a pull request. GitHub
// shows about ten per step, so the order (highest gain first) matters.
#include <fmt/format.h>

#include "report/findings_format.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

/// Escapes as the runner undoes them (actions/toolkit, command.ts): a value that
/// holds a line break or `::` must not become a command of its own.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    if (c == '%')
      out += "%25";
    else if (c == '\r')
      out += "%0D";
    else if (c == '\n')
      out += "%0A";
    else if (property && c == ':')
      out += "%3A";
    else if (property && c == ',')
      out += "%2C";
    else if (static_cast<unsigned char>(c) < ' ' && c != '\t')
      out += "\xef\xbf\xbd";  // U+FFFD: a name must not reach the log's reader as a command
    else
      out += c;
  }
  return out;
}

std::string annotation(const Finding& finding) {
  const std::string_view level = finding_level(finding);
  const Place& place = primary_place(finding);
  std::string properties;
  const auto add = [&](std::string_view key, const std::string& value) {
    properties += fmt::format("{}{}={}", properties.empty() ? " " : ",", key, escaped(value, true));
  };
  if (!place.file.empty()) {
    add("file", place.file);
    if (place.line > 0) add("line", std::to_string(place.line));
    if (place.line > 0 && place.column > 0) add("col", std::to_string(place.column));
  }
  add("title", finding.rule_id + ": " + finding.title);
  std::string text = finding_paragraph(finding);
  if (!finding.fix.after.empty()) text += "\nInstead: " + finding.fix.after;
  return fmt::format("::{}{}::{}\n", level == "note" ? "notice" : level, properties,
                     escaped(text, false));
}

Result<std::string> render_github(const FindingsList& list) {
  std::string out;
  for (const Finding& finding : list.findings) out += annotation(finding);
  return out;
}

constexpr FindingsFormat kGithubFormat{"github", "", "annotations in a GitHub workflow's log",
                                       render_github};
const RegisterFindingsFormat kGithubFindings(kGithubFormat);
const RegisterFormat kGithubReport({kGithubFormat.name, kGithubFormat.file_name,
                                    kGithubFormat.description, render_findings_of<render_github>});

}  // namespace
}  // namespace stallscope
