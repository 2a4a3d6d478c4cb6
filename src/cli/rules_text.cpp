#include "cli/rules_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/lint_totals.h"

namespace stallscope {
namespace {

std::string seen_in(const Rule& rule) {
  std::string text;
  const auto add = [&](bool has, const char* name) {
    if (has) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(rule.has_source(), "source");
  add(!rule.trace.empty(), "trace");
  add(!rule.environment.empty(), "environment");
  return text;
}

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "    ";
  }
  while (!result.empty() && (result.back() == ' ' || result.back() == '\n')) result.pop_back();
  return result + "\n";
}

std::string condition_text(const Condition& condition) {
  switch (condition.kind) {
    case Condition::Kind::field:
      return condition.field + " " + condition.comparison.written;
    case Condition::Kind::all:
    case Condition::Kind::any:
    case Condition::Kind::none: {
      const char* joint = condition.kind == Condition::Kind::all ? " and " : " or ";
      std::string text;
      for (const Condition& child : condition.children)
        text += (text.empty() ? "" : joint) + condition_text(child);
      if (condition.kind == Condition::Kind::none) return "not (" + text + ")";
      return condition.kind == Condition::Kind::any ? "(" + text + ")" : text;
    }
  }
  return {};
}

}  // namespace

std::string languages_of(const Rule& rule) {
  std::string text;
  for (const Language language : rule.languages)
    text += (text.empty() ? "" : ", ") + std::string(to_string(language));
  return text;
}

std::string worst_of(const Rule& rule) {
  if (rule.advice) return "advice";
  const std::string worst = std::string(to_string(rule.severity)) + " at worst";
  return rule.unmeasured < rule.severity
             ? fmt::format("{}, {} where no run measured it", worst, to_string(rule.unmeasured))
             : worst;
}

std::string rules_table(std::span<const Rule> rules) {
  size_t width = 0;
  for (const Rule& rule : rules) width = std::max(width, rule.id.size());
  std::string text;
  for (const Rule& rule : rules)
    text += fmt::format("{:<{}}  {:<8}  {:<17}  {}\n", rule.id, width,
                        rule.advice ? "advice" : to_string(rule.severity), languages_of(rule),
                        rule.title);
  return text;
}

std::string rules_json(std::span<const Rule> rules) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Rule& rule : rules) {
    nlohmann::ordered_json languages = nlohmann::ordered_json::array();
    for (const Language language : rule.languages) languages.push_back(to_string(language));
    nlohmann::ordered_json observes = nlohmann::ordered_json::array();
    for (const TraceCondition& condition : rule.trace) observes.push_back(condition.kind);
    list.push_back({{"id", rule.id},
                    {"title", rule.title},
                    {"severity", to_string(rule.severity)},
                    {"unmeasured", to_string(std::min(rule.severity, rule.unmeasured))},
                    {"tier", rule.advice ? "advice" : "defect"},
                    {"languages", std::move(languages)},
                    {"why", rule.why},
                    {"source", rule.has_source()},
                    {"trace", !rule.trace.empty()},
                    {"observes", std::move(observes)},
                    {"fallback", rule.fallback},
                    {"gain", to_string(rule.gain)},
                    {"fix",
                     {{"applicability", to_string(rule.fix.applicability)},
                      {"before", rule.fix.before},
                      {"after", rule.fix.after},
                      {"edit", rule.edit.kind != EditKind::none}}},
                    {"references", rule.references},
                    {"cases", rule.cases.size()},
                    {"file", rule.file}});
  }
  return nlohmann::ordered_json{{"rules", std::move(list)}}.dump(
             2, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

std::string rule_page(const Rule& rule) {
  std::string text =
      fmt::format("{}: {}\n\n  severity   {}\n  languages  {}\n  seen in    {}\n", rule.id,
                  rule.title, rule.advice ? "advice: never in an exit code" : worst_of(rule),
                  languages_of(rule), seen_in(rule));
  if (rule.gain != GainModel::none) text += fmt::format("  gain       {}\n", to_string(rule.gain));
  text += "\n" + indented(rule.why);
  if (!rule.fix.before.empty())
    text += fmt::format("\n  Instead of\n{}  write ({})\n{}", indented(rule.fix.before),
                        to_string(rule.fix.applicability), indented(rule.fix.after));
  if (!rule.trace.empty()) {
    text += "\n  In a run it is\n";
    for (const TraceCondition& condition : rule.trace) {
      const std::string where = condition_text(condition.where);
      text += fmt::format("    {}{}\n", condition.kind, where.empty() ? "" : " with " + where);
    }
  }
  if (!rule.environment.empty()) {
    text += "\n  In a run's environment it is\n";
    for (const EnvironmentCondition& condition : rule.environment)
      text += fmt::format("    {} {}\n", condition.name, condition.value.written);
  }
  if (rule.has_source()) text += "\n  In source it is\n" + indented(rule.source_text);
  if (!rule.references.empty()) {
    text += "\n  See\n";
    for (const std::string& reference : rule.references) text += "    " + reference + "\n";
  }
  return text +
         fmt::format("\n  Silence it with a comment: stallscope: ignore[{}] reason\n", rule.id);
}

std::string kinds_table() {
  std::string text;
  for (const ObservationKind& kind : observation_kinds()) {
    text += fmt::format("{}: {}\n", kind.name, kind.meaning);
    for (const auto& [name, meaning] : kind.fields)
      text += fmt::format("  {:<20} {}\n", name, meaning);
    text += "\n";
  }
  return text;
}

std::string kinds_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ObservationKind& kind : observation_kinds()) {
    nlohmann::ordered_json fields = nlohmann::ordered_json::object();
    for (const auto& [name, meaning] : kind.fields) fields[std::string(name)] = meaning;
    list.push_back({{"name", kind.name}, {"meaning", kind.meaning}, {"fields", std::move(fields)}});
  }
  return nlohmann::ordered_json{{"kinds", std::move(list)}}.dump(2) + "\n";
}

CaseReport case_report(std::span<const Rule> rules, std::span<const Rule> tested,
                       const SourceCaseRunner& run_source) {
  CaseReport report;
  size_t cases = 0, failed = 0, untested = 0;
  for (const Rule& rule : tested) {
    if (rule.cases.empty()) {
      report.text += fmt::format("no cases  {}\n", rule.id);
      ++untested;
    }
    for (const RuleCase& rule_case : rule.cases) {
      const CaseResult result = rule_case.is_trace() ? run_trace_case(rules, rule, rule_case)
                                                     : run_source(rules, rule, rule_case);
      ++cases;
      if (result.ok()) continue;
      ++failed;
      if (result.error)
        report.text += fmt::format("error     {}: {}\n", rule.id, result.error->to_string());
      for (const std::string& line : result.missing)
        report.text += fmt::format(
            "missing   {} (in {}; found: {})\n", line, result.path,
            result.found.empty() ? "nothing" : fmt::format("{}", fmt::join(result.found, ", ")));
      for (const std::string& line : result.noisy)
        report.text += fmt::format("noisy     {} (in {})\n", line, result.path);
    }
  }
  report.text +=
      fmt::format("{}, {}: {} failed, {} without cases\n", counted(tested.size(), "rule"),
                  counted(cases, "case"), failed, counted(untested, "rule"));
  report.ok = failed == 0;
  return report;
}

}  // namespace stallscope
