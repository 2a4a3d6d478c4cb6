#include "rule/cases.h"

#include <algorithm>
#include <charconv>

#include "analyze/analyze.h"
#include "base/file.h"
#include "base/lines.h"
#include "base/text.h"
#include "rule/evaluate.h"
#include "rule/file_join.h"
#include "trace/event_lines.h"

namespace stallscope {
namespace {

constexpr uint64_t kLargestCase = 16 << 20;

// The text after "expect:" in a comment line; empty when the line is none.
std::string_view expectation_of(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with('#'))
    line.remove_prefix(1);
  else if (line.starts_with("//"))
    line.remove_prefix(2);
  else
    return {};
  line = trimmed(line);
  constexpr std::string_view kWord = "expect:";
  return line.starts_with(kWord) ? trimmed(line.substr(kWord.size())) : std::string_view();
}

std::string shown(const Found& found) {
  if (found.file.empty()) return found.rule_id;
  return found.rule_id + " at " + found.file + ":" + std::to_string(found.line);
}

bool meets(const Expectation& expected, const Found& found) {
  if (expected.rule_id != found.rule_id) return false;
  if (expected.line != 0 && expected.line != found.line) return false;
  if (expected.file.empty()) return true;
  const auto components = static_cast<size_t>(std::ranges::count(expected.file, '/')) + 1;
  return common_suffix(expected.file, found.file) == components;
}

}  // namespace

Result<std::vector<Expectation>> parse_expectations(std::string_view text,
                                                    const std::string& path) {
  std::vector<Expectation> expectations;
  for (Lines lines(text); lines.next();) {
    const std::string_view words = expectation_of(lines.line());
    if (words.empty()) continue;
    const size_t blank = words.find(' ');
    Expectation expected{.rule_id = std::string(words.substr(0, blank)), .file = {}, .line = 0};
    if (blank != std::string_view::npos) {
      const std::string_view place = trimmed(words.substr(blank));
      const size_t colon = place.rfind(':');
      const std::string_view digits =
          colon == std::string_view::npos ? std::string_view() : place.substr(colon + 1);
      const auto [stop, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), expected.line);
      if (error != std::errc() || stop != digits.data() + digits.size() || colon == 0)
        return Error{.message = "expected 'expect: RULE' or 'expect: RULE FILE:LINE'",
                     .file = path,
                     .line = lines.number()};
      expected.file = place.substr(0, colon);
    }
    expectations.push_back(std::move(expected));
  }
  return expectations;
}

CaseResult begin_case(const Rule& rule, const RuleCase& rule_case) {
  CaseResult result;
  result.rule_id = rule.id;
  result.path = rule_case.path;
  result.fires = rule_case.fires;
  return result;
}

void compare_found(const Rule& rule, std::span<const Expectation> expected,
                   std::span<const Found> found, CaseResult& result) {
  for (const Expectation& e : expected) {
    if (std::ranges::any_of(found, [&](const Found& f) { return meets(e, f); })) continue;
    result.missing.push_back(shown({.rule_id = e.rule_id, .file = e.file, .line = e.line}));
  }
  for (const Found& f : found) {
    result.found.push_back(shown(f));
    if (f.rule_id != rule.id) continue;
    if (std::ranges::any_of(expected, [&](const Expectation& e) { return meets(e, f); })) continue;
    result.noisy.push_back(shown(f));
  }
}

CaseResult run_trace_case(std::span<const Rule> rules, const Rule& rule,
                          const RuleCase& rule_case) {
  CaseResult result = begin_case(rule, rule_case);
  const auto failed = [&](const Error& error) {
    result.error = error;
    return result;
  };
  const auto text = read_file(rule_case.path, kLargestCase);
  if (!text) return failed(text.error());
  auto expected = parse_expectations(*text, rule_case.path);
  if (!expected) return failed(expected.error());
  const bool own =
      std::ranges::any_of(*expected, [&](const Expectation& e) { return e.rule_id == rule.id; });
  if (rule_case.fires && !own) expected->push_back({.rule_id = rule.id, .file = {}, .line = 0});
  if (!rule_case.fires && own)
    return failed(Error{.message = "a silent case expects its own rule", .file = rule_case.path});

  const auto trace = read_event_lines(*text, {.file = rule_case.path, .skip_bad_lines = false});
  if (!trace) return failed(trace.error());
  const RunSummary run = merge_ranks(analyze_trace(*trace));
  EvaluateOptions options;
  options.source_was_analysed = false;
  std::vector<Found> found;
  for (const Finding& finding : evaluate(rules, &run, {}, options).findings) {
    const Place place = finding.locations.empty() ? Place() : finding.locations.front();
    found.push_back({.rule_id = finding.rule_id, .file = place.file, .line = place.line});
    // Advice gives way to a defect at the same place, and is still shown by it.
    if (rule.advice && std::ranges::find(finding.related, rule.id) != finding.related.end())
      found.push_back({.rule_id = rule.id, .file = place.file, .line = place.line});
  }
  compare_found(rule, *expected, found, result);
  return result;
}

}  // namespace stallscope
