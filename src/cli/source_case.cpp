#include "cli/source_case.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/lines.h"
#include "cli/source_analysis.h"

namespace stallscope {
namespace {

std::vector<Expectation> expected_lines(std::string_view text, const std::string& file) {
  constexpr std::string_view kWord = "expect: ";
  std::vector<Expectation> out;
  for (Lines lines(text); lines.next();) {
    std::string_view here = lines.line();
    const size_t mark = here.find(kWord);
    if (mark == std::string_view::npos) continue;
    here.remove_prefix(mark + kWord.size());
    const size_t word = std::min(here.find_first_of(" \t\r"), here.size());
    out.push_back({.rule_id = std::string(here.substr(0, word)),
                   .file = file,
                   .line = static_cast<uint32_t>(lines.number())});
  }
  return out;
}

}  // namespace

CaseResult run_source_case(std::span<const Rule> rules, const Rule& rule,
                           const RuleCase& rule_case) {
  CaseResult result = begin_case(rule, rule_case);
  const auto failed = [&](const Error& error) {
    result.error = error;
    return result;
  };
  const auto text = read_file(rule_case.path);
  if (!text) return failed(text.error());
  const std::string name = std::filesystem::path(rule_case.path).filename().string();
  const auto compiled = compile_source_rules(rules);
  if (!compiled) return failed(compiled.error());
  const auto options = index_options();
  if (!options) return failed(options.error());
  const SourceIndex index = SourceIndex::build({{name, "", *text}}, *compiled, *options);
  std::vector<Found> found;
  for (const SourceFact& fact : index.facts()) {
    if (fact.rule_id == rule.id) {
      found.push_back({.rule_id = fact.rule_id, .file = fact.file, .line = fact.first_line});
    }
  }
  std::vector<Expectation> expected = expected_lines(*text, name);
  std::erase_if(expected, [&](const Expectation& e) { return e.rule_id != rule.id; });
  if (rule_case.fires && expected.empty()) {
    return failed({.message = "a firing case marks no line with 'expect: " + rule.id + "'",
                   .file = rule_case.path});
  }
  compare_found(rule, expected, found, result);
  return result;
}

}  // namespace stallscope
