#include "report/text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/terminal.h"
#include "report/build.h"
#include "report/findings_format.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

constexpr size_t kMaxFindings = 5;  // the page has all of them

std::string painted(std::string_view text, std::string_view code, const TextStyle& style) {
  return style.colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string bold(std::string_view text, const TextStyle& style) {
  return painted(text, "1", style);
}

std::string faint(std::string_view text, const TextStyle& style) {
  return painted(text, "2", style);
}

std::string_view severity_code(Severity severity) {
  switch (severity) {
    case Severity::critical:
      return "1;31";
    case Severity::high:
      return "31";
    case Severity::medium:
      return "33";
    case Severity::low:
      return "36";
    case Severity::info:
      return "2";
  }
  return "0";
}

/// Letters that stand for the classes where there is no colour.
char class_letter(StepClass step_class) {
  return "CXYSLHIPO"[static_cast<size_t>(step_class)];
}

/// One line of `width` cells; each class gets its share, rounded so that they sum to the width.
std::string bar(const ClassTimes& times, const TextStyle& style) {
  const double total = static_cast<double>(times.total());
  std::string out;
  double sum = 0;
  size_t drawn = 0;
  for (const StepClass c : step_classes()) {
    sum += static_cast<double>(times[c]) / total;
    const auto end = static_cast<size_t>(std::lround(sum * static_cast<double>(style.width)));
    const size_t cells = end - std::min(end, drawn);
    drawn += cells;
    if (cells == 0) continue;
    out += style.colour
               ? fmt::format("\x1b[48;5;{}m{}\x1b[0m", terminal_colour(c), std::string(cells, ' '))
               : std::string(cells, class_letter(c));
  }
  return out;
}

std::string breakdown(const RankSummary& rank, const TextStyle& style) {
  const ClassTimes& times = rank.mean_breakdown;
  const double total = static_cast<double>(times.total());
  if (total <= 0) return {};
  std::string out = bar(times, style) + "\n";
  for (const StepClass c : step_classes()) {
    if (times[c] == 0) continue;
    const std::string key = style.colour ? fmt::format("\x1b[48;5;{}m  \x1b[0m", terminal_colour(c))
                                         : fmt::format("{} ", class_letter(c));
    out += fmt::format("  {} {:<24}{:>7}  {:>8}\n", key, class_label(c),
                       percent_text(static_cast<double>(times[c]) / total),
                       duration_text(static_cast<double>(times[c])));
  }
  return out;
}

// The parts that the program names: "backward 45 %, optimizer.step 8.1 %, the rest 47 %".
std::string phases(const RankSummary& rank) {
  constexpr size_t kMostNamed = 4;
  std::string out;
  double named = 0;
  for (size_t i = 0; i < rank.phases.size() && i < kMostNamed; ++i) {
    const PhaseShare& phase = rank.phases[i];
    if (phase.name.empty() || phase.fraction < 0.005) break;
    named += phase.fraction;
    out +=
        fmt::format("{} {}, ", one_line(shortened(phase.name, 40)), percent_text(phase.fraction));
  }
  if (out.empty()) return {};
  return fmt::format("  host, by phase: {}the rest {}\n", out, percent_text(1 - named));
}

std::string headline(const Report& report, const TextStyle& style) {
  if (!report.step_time) {
    std::string out = bold("No verdict: the data cannot carry one.", style) + "\n";
    for (const std::string& reason : abstentions(report.summary))
      out += fmt::format("  - {}\n", one_line(reason));
    return out;
  }
  const StepTime& time = *report.step_time;
  std::string out = bold(duration_text(static_cast<double>(time.median)) + " per step", style);
  out += fmt::format(" ({} to {}{}; {} steps used, {} discarded)",
                     duration_text(static_cast<double>(time.low)),
                     duration_text(static_cast<double>(time.high)), mean_text(time),
                     report.steps_used, report.steps_discarded);
  if (report.recoverable && report.recoverable->high > 0) {
    const double mean = static_cast<double>(time.mean);
    out +=
        fmt::format("\nabout {} recoverable ({} to {})",
                    bold(percent_text(static_cast<double>(report.recoverable->mid) / mean), style),
                    percent_text(static_cast<double>(report.recoverable->low) / mean),
                    percent_text(static_cast<double>(report.recoverable->high) / mean));
  }
  const RankSummary* slowest = slowest_rank(report.summary);
  if (slowest != nullptr && report.summary.ranks.size() > 1)
    out += faint(fmt::format("\nof {} ranks these are the figures of the slowest, {}",
                             report.summary.ranks.size(), rank_label(*slowest)),
                 style);
  return out + "\n";
}

/// False for what was priced and would save nothing: the page has it, a terminal need not.
bool may_save_time(const Finding& finding) {
  if (!finding.gain || !finding.gain->step_time || finding.gain->one_time.value_or(0) > 0)
    return true;
  return finding.gain->step_time->high > 0;
}

std::string finding_lines(const Finding& finding, size_t position, const TextStyle& style) {
  const Place& place = primary_place(finding);
  std::string out =
      fmt::format("{:>3}. {}  {}\n", position,
                  painted(to_string(finding.severity), severity_code(finding.severity), style),
                  bold(one_line(finding.title), style));
  out += fmt::format("     {}  {}",
                     place.known() ? one_line(place_text(place)) : "(no line of your own code)",
                     gain_text(finding));
  if (const std::string range = gain_range_text(finding); !range.empty())
    out += fmt::format(", {}", range);
  out += faint(fmt::format("  [{}]", one_line(finding.rule_id)), style) + "\n";
  if (!finding.library_line.empty())
    out += faint("     through " + one_line(finding.library_line), style) + "\n";
  return out;
}

std::string source_frame(const Finding& finding, const TextStyle& style) {
  const Snippet& snippet = finding.snippet;
  const uint32_t line = primary_place(finding).line;
  if (line < snippet.first_line || line - snippet.first_line >= snippet.lines.size()) return {};
  const std::string number = std::to_string(line);
  return faint(fmt::format("  {} | ", number), style) +
         one_line(snippet.lines[line - snippet.first_line]) + "\n";
}

Result<std::string> render_text(const Report& report) {
  return text_summary(report, {.colour = color_allowed(STDOUT_FILENO)});
}

Result<std::string> render_findings_text(const FindingsList& list) {
  return text_findings(list.findings, {.colour = color_allowed(STDOUT_FILENO)});
}

constexpr FindingsFormat kTextFormat{"text", "", "for the terminal", render_findings_text};
const RegisterFindingsFormat kTextFindings(kTextFormat);
const RegisterFormat kTextReport({kTextFormat.name, kTextFormat.file_name, kTextFormat.description,
                                  render_text});

}  // namespace

std::string text_summary(const Report& report, const TextStyle& style) {
  std::string out = headline(report, style);
  if (const RankSummary* rank = described_rank(report.summary))
    out += "\n" + breakdown(*rank, style) + phases(*rank);
  out += "\n";
  if (report.findings.empty()) out += "No findings.\n";
  size_t shown = 0;
  for (const Finding& finding : report.findings)
    if (shown < kMaxFindings && may_save_time(finding))
      out += finding_lines(finding, ++shown, style);
  if (const size_t more = report.findings.size() - shown; more > 0)
    out += fmt::format("     {}{} more in the report\n", shown > 0 ? "and " : "", more);
  if (report.reference) out += "\n" + reference_text(*report.reference);
  if (report.findings.size() > 1) out += faint("     Gains overlap, do not add.\n", style);
  for (const Error& error : report.errors)
    out += fmt::format("{} {}\n", painted("warning:", "31", style), one_line(error.to_string()));
  for (const std::string& warning : report.warnings)
    out += fmt::format("{} {}\n", painted("note:", "33", style), one_line(warning));
  return out;
}

std::string text_findings(std::span<const Finding> findings, const TextStyle& style) {
  std::string out;
  for (const Finding& finding : findings) {
    const Place& place = primary_place(finding);
    std::string where =
        place.known() ? one_line(place_text(place)) : std::string("(no source line)");
    if (place.line > 0 && place.column > 0) where += fmt::format(":{}", place.column);
    out += fmt::format("{}: {} {} {}\n", bold(where, style),
                       painted(to_string(finding.severity), severity_code(finding.severity), style),
                       one_line(finding.rule_id), one_line(finding.title));
    out += source_frame(finding, style);
    for (const std::string& link : finding.context_chain)
      out += faint(fmt::format("  {}\n", one_line(link)), style);
    for (const std::string& reason : finding.lowered_because)
      out += faint(fmt::format("  lowered: {}\n", one_line(reason)), style);
    if (const std::string others = other_places_text(finding); !others.empty())
      out += faint(fmt::format("  {}\n", others), style);
    if (finding.gain && (finding.gain->step_time || finding.gain->one_time))
      out += fmt::format("  {}\n", gain_text(finding));
  }
  return out;
}

}  // namespace stallscope
