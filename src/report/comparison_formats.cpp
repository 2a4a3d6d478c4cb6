// The comparison as text, Markdown, JSON and a page.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/comparison.h"
#include "report/json_parts.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

constexpr size_t kKernelsShown = 10;
constexpr size_t kNameWidth = 60;
constexpr size_t kPlaceWidth = 160;  // paths are seldom longer, kernels of templates are

std::string signed_duration(double ns) {
  return (ns < 0 ? "-" : "+") + format_duration(ns < 0 ? -ns : ns);
}

std::string gain_text(const std::optional<double>& gain) {
  return gain ? format_duration(*gain) : "unknown";
}

// How the interval came about, in one sentence.
std::string method(const StepTimeChange& step) {
  if (step.run_spread_assumed)
    return fmt::format(
        "Runs are taken to differ by {:.1f} % by themselves: several runs a side "
        "(diff A1 A2 --against B1 B2) would measure it.",
        step.run_spread * 100);
  return fmt::format("{} and {} runs; they differ by {:.1f} % by themselves.", step.runs_before,
                     step.runs_after, step.run_spread * 100);
}

std::string finding_line(const ComparedFinding& compared) {
  std::string line = std::string(to_string(compared.change)) + " " + compared.finding.rule_id;
  if (!compared.finding.place.empty())
    line += " at " + shortened(one_line(compared.finding.place), kPlaceWidth);
  if (compared.change == FindingChange::changed)
    return line + ": " + gain_text(compared.before_gain_ns) + " -> " +
           gain_text(compared.after_gain_ns) + " per step";
  const auto& gain =
      compared.change == FindingChange::gone ? compared.before_gain_ns : compared.after_gain_ns;
  return gain ? line + ": " + gain_text(gain) + " per step" : line;
}

// What every format lists, as rows of cells.
using Rows = std::vector<std::vector<std::string>>;

Rows class_rows(const RunComparison& comparison) {
  Rows rows;
  for (const ClassChange& change : comparison.classes) {
    if (change.before_ns == 0 && change.after_ns == 0) continue;
    rows.push_back({std::string(to_string(change.step_class)), format_duration(change.before_ns),
                    format_duration(change.after_ns),
                    signed_duration(change.after_ns - change.before_ns)});
  }
  return rows;
}

Rows kernel_rows(const RunComparison& comparison) {
  Rows rows;
  for (const KernelChange& change : comparison.kernels) {
    if (rows.size() == kKernelsShown || change.change_ns() == 0) break;
    rows.push_back({shortened(one_line(change.name), kNameWidth) + (change.renamed ? " *" : ""),
                    change.before_calls == 0 ? "-" : format_duration(change.before_ns),
                    change.after_calls == 0 ? "-" : format_duration(change.after_ns),
                    signed_duration(change.change_ns())});
  }
  return rows;
}

Json range_json(double low, double mid, double high) {
  return {{"low", low}, {"mid", mid}, {"high", high}};
}

Json number_or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace

std::string render_comparison_text(const RunComparison& comparison) {
  std::string out = verdict_sentence(comparison) + "\n";
  for (const std::string& why : comparison.abstentions) out += "  - " + one_line(why) + "\n";
  if (comparison.step_time.verdict != Verdict::abstain)
    out += "  " + method(comparison.step_time) + "\n";
  out +=
      "  before: " + joined(comparison.before) + "\n  after:  " + joined(comparison.after) + "\n";
  const auto table = [&out](std::string_view title, const Rows& rows, int width) {
    if (rows.empty()) return;
    out +=
        fmt::format("\n{:<{}} {:>10} {:>10} {:>10}\n", title, width, "before", "after", "change");
    for (const auto& row : rows)
      out += fmt::format("{:<{}} {:>10} {:>10} {:>10}\n", row[0], width, row[1], row[2], row[3]);
  };
  table("Time per step by class", class_rows(comparison), 24);
  table("Kernels that changed most, per step", kernel_rows(comparison), kNameWidth + 2);
  if (!comparison.findings.empty()) out += "\nFindings\n";
  for (const ComparedFinding& compared : comparison.findings)
    out += "  " + finding_line(compared) + "\n";
  return out;
}

std::string render_comparison_markdown(const RunComparison& comparison) {
  const auto cell = [](std::string_view text) {
    std::string safe;
    for (const char c : one_line(text)) {
      if (c == '|' || c == '\\' || c == '`' || c == '<') safe += '\\';
      safe += c;
    }
    return safe;
  };
  std::string out = "**" + verdict_sentence(comparison) + "**\n\n";
  for (const std::string& why : comparison.abstentions) out += "- " + cell(why) + "\n";
  if (comparison.step_time.verdict != Verdict::abstain) out += method(comparison.step_time) + "\n";
  const auto table = [&](std::string_view title, const Rows& rows) {
    if (rows.empty()) return;
    out += "\n| " + std::string(title) +
           " | before | after | change |\n| --- | ---: | ---: | ---: |\n";
    for (const auto& row : rows)
      out += "| " + cell(row[0]) + " | " + row[1] + " | " + row[2] + " | " + row[3] + " |\n";
  };
  table("Time per step by class", class_rows(comparison));
  table("Kernel, per step", kernel_rows(comparison));
  if (!comparison.findings.empty()) out += "\n";
  for (const ComparedFinding& compared : comparison.findings)
    out += "- " + cell(finding_line(compared)) + "\n";
  return out;
}

std::string render_comparison_json(const RunComparison& comparison) {
  const StepTimeChange& step = comparison.step_time;
  Json document = {{"schemaVersion", "1.0"},
                   {"verdict", to_string(step.verdict)},
                   {"before", comparison.before},
                   {"after", comparison.after},
                   {"abstentions", comparison.abstentions}};
  if (step.verdict == Verdict::abstain) {
    document["interval"] = nullptr;
    document["stepTimeNs"] = nullptr;
  } else {
    const auto before = static_cast<double>(step.before);
    document["interval"] = range_json(step.low, step.change, step.high);
    document["stepTimeNs"] = {
        {"before", step.before},
        {"after", step.after},
        {"change", range_json(step.low * before, step.change * before, step.high * before)}};
    document["runSpread"] = {{"fraction", step.run_spread},
                             {"assumed", step.run_spread_assumed},
                             {"runsBefore", step.runs_before},
                             {"runsAfter", step.runs_after}};
  }
  Json& classes = document["classes"] = Json::array();
  for (const ClassChange& change : comparison.classes)
    classes.push_back({{"class", to_string(change.step_class)},
                       {"beforeNs", change.before_ns},
                       {"afterNs", change.after_ns},
                       {"changeNs", change.after_ns - change.before_ns}});
  Json& kernels = document["kernels"] = Json::array();
  for (const KernelChange& change : comparison.kernels)
    kernels.push_back({{"name", change.name},
                       {"operator", text_or_null(change.op)},
                       {"matchedBy", change.renamed ? "base-name" : "name"},
                       {"beforeNs", change.before_calls == 0 ? Json() : Json(change.before_ns)},
                       {"afterNs", change.after_calls == 0 ? Json() : Json(change.after_ns)},
                       {"beforeCalls", change.before_calls},
                       {"afterCalls", change.after_calls},
                       {"changeNs", change.change_ns()}});
  Json& findings = document["findings"] = Json::array();
  for (const ComparedFinding& compared : comparison.findings)
    findings.push_back({{"change", to_string(compared.change)},
                        {"ruleId", compared.finding.rule_id},
                        {"title", compared.finding.title},
                        {"severity", compared.finding.severity},
                        {"place", text_or_null(compared.finding.place)},
                        {"fingerprint", compared.finding.fingerprint},
                        {"beforeGainNs", number_or_null(compared.before_gain_ns)},
                        {"afterGainNs", number_or_null(compared.after_gain_ns)}});
  return dump(document, 1) + "\n";
}

std::string render_comparison_html(const RunComparison& comparison) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\"><meta name=\"viewport\" content=\"width=device-width\">"
      "<title>stallscope diff</title><style>"
      ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:70ch;"
      "margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%;margin:1rem 0}"
      "th,td{padding:.25rem .5rem;text-align:right;font-variant-numeric:tabular-nums;"
      "border-bottom:1px solid #8886}th:first-child,td:first-child{text-align:left;"
      "overflow-wrap:anywhere}</style></head><body>\n";
  out += "<h1>" + escape_markup(verdict_sentence(comparison)) + "</h1>\n<ul>\n";
  for (const std::string& why : comparison.abstentions)
    out += "<li>" + escape_markup(why) + "</li>\n";
  out += "</ul>\n<p>Before: " + escape_markup(joined(comparison.before)) +
         "<br>After: " + escape_markup(joined(comparison.after)) + "</p>\n";
  if (comparison.step_time.verdict != Verdict::abstain)
    out += "<p>" + escape_markup(method(comparison.step_time)) + "</p>\n";
  const auto table = [&](std::string_view title, const Rows& rows) {
    if (rows.empty()) return;
    out += "<h2>" + std::string(title) +
           "</h2>\n<table><tr><th>Name</th><th>Before</th><th>After</th><th>Change</th></tr>\n";
    for (const auto& row : rows) {
      out += "<tr>";
      for (const std::string& text : row) out += "<td>" + escape_markup(text) + "</td>";
      out += "</tr>\n";
    }
    out += "</table>\n";
  };
  table("Time per step by class", class_rows(comparison));
  table("Kernels that changed most, per step", kernel_rows(comparison));
  if (!comparison.findings.empty()) out += "<h2>Findings</h2>\n<ul>\n";
  for (const ComparedFinding& compared : comparison.findings)
    out += "<li>" + escape_markup(finding_line(compared)) + "</li>\n";
  out += comparison.findings.empty() ? "</body></html>\n" : "</ul>\n</body></html>\n";
  return out;
}

}  // namespace stallscope
