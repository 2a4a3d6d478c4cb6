// Markdown: the step summary of a CI job, or a comment on a pull request.
#include <fmt/format.h>

#include "report/build.h"
#include "report/findings_format.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

constexpr size_t kMaxRows = 50;  // a summary is read, not searched

/// Text that stays text in a table cell, whatever it holds.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (std::string_view("\\`*_{}[]|#").find(c) != std::string_view::npos) out += '\\';
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '@')
      out += "&#64;";  // no one is to be notified by a file's name
    else
      out += c;
  }
  return out;
}

std::string findings_table(std::span<const Finding> findings) {
  if (findings.empty()) return "No findings.\n";
  std::string out = "| # | Severity | Finding | Where | Gain |\n|--:|---|---|---|--:|\n";
  for (size_t i = 0; i < findings.size() && i < kMaxRows; ++i) {
    const Finding& finding = findings[i];
    const Place& place = primary_place(finding);
    out += fmt::format("| {} | {} | {} ({}) | {} | {} |\n", i + 1, to_string(finding.severity),
                       cell(finding.title), cell(finding.rule_id),
                       place.known() ? cell(place_text(place)) : "\xE2\x80\x94",
                       cell(gain_text(finding)));
  }
  if (findings.size() > kMaxRows)
    out += fmt::format("\n{} more are left out.\n", findings.size() - kMaxRows);
  return out;
}

std::string breakdown_table(const ClassTimes& times) {
  const double total = static_cast<double>(times.total());
  if (total <= 0) return {};
  std::string out = "\n| Where a step's time goes | Time | Share |\n|---|--:|--:|\n";
  for (const StepClass c : step_classes())
    if (times[c] > 0)
      out += fmt::format("| {} | {} | {} |\n", class_label(c),
                         duration_text(static_cast<double>(times[c])),
                         percent_text(static_cast<double>(times[c]) / total));
  return out;
}

/// What was left out or could not be read, behind the rest.
std::string notes_list(std::span<const std::string> notes) {
  std::string out = notes.empty() ? "" : "\n";
  for (const std::string& note : notes) out += fmt::format("- {}\n", cell(note));
  return out;
}

Result<std::string> render_findings_markdown(const FindingsList& list) {
  return "## stallscope\n\n" + findings_table(list.findings) + notes_list(list.notes);
}

Result<std::string> render_markdown(const Report& report) {
  std::string out = "## stallscope\n\n";
  if (report.step_time) {
    const StepTime& time = *report.step_time;
    out += fmt::format("**{} per step** ({} to {}{}, {} steps used, {} discarded)",
                       duration_text(static_cast<double>(time.median)),
                       duration_text(static_cast<double>(time.low)),
                       duration_text(static_cast<double>(time.high)), mean_text(time),
                       report.steps_used, report.steps_discarded);
    if (report.recoverable && report.recoverable->high > 0) {
      const double mean = static_cast<double>(time.mean);
      out += fmt::format(", about **{} recoverable** ({} to {})",
                         percent_text(static_cast<double>(report.recoverable->mid) / mean),
                         percent_text(static_cast<double>(report.recoverable->low) / mean),
                         percent_text(static_cast<double>(report.recoverable->high) / mean));
    }
    out += fmt::format(".\n\n{}\n\n", verdict_text(report));
  } else {
    out += "**No verdict**: the data cannot carry one.\n\n";
    for (const std::string& reason : abstentions(report.summary))
      out += fmt::format("- {}\n", cell(reason));
    out += "\n";
  }
  out += findings_table(report.findings);
  if (!report.findings.empty()) out += "\nGains overlap, do not add.\n";
  if (const RankSummary* slowest = slowest_rank(report.summary))
    out += breakdown_table(slowest->mean_breakdown);
  return out + notes_list(report.warnings);
}

constexpr FindingsFormat kMarkdownFormat{"markdown", "report.md", "a summary for a pull request",
                                         render_findings_markdown};
const RegisterFindingsFormat kMarkdownFindings(kMarkdownFormat);
const RegisterFormat kMarkdownReport({kMarkdownFormat.name, kMarkdownFormat.file_name,
                                      kMarkdownFormat.description, render_markdown});

}  // namespace
}  // namespace stallscope
