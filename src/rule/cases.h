// Rule cases: files that show a rule at work, and whether it does what they say.
// A trace case is a list of event lines (see trace/event_lines.h) with comments
//   # expect: item-in-step                 somewhere in the run
//   # expect: item-in-step train.py:14     at this line
// A case under `fires:` without any expects its rule somewhere; one under
// `silent:` expects it nowhere.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rule/rule.h"

namespace stallscope {

/// What a case file says must be found.
struct Expectation {
  std::string rule_id;
  std::string file;   ///< matched by path suffix; empty = anywhere
  uint32_t line = 0;  ///< 0 = any
};

/// The `# expect:` (or `// expect:`) comments of a trace case.
Result<std::vector<Expectation>> parse_expectations(std::string_view text, const std::string& path);

struct CaseResult {
  std::string rule_id;
  std::string path;
  bool fires = true;
  std::vector<std::string> missing;  ///< expected and not found: "item-in-step at train.py:14"
  std::vector<std::string> noisy;    ///< found and not expected
  std::vector<std::string> found;    ///< all that was found, for the message
  std::optional<Error> error;        ///< the case could not be run
  bool ok() const { return missing.empty() && noisy.empty() && !error; }
};

/// The result of a case before anything was found.
CaseResult begin_case(const Rule& rule, const RuleCase& rule_case);

/// Runs one trace case under all `rules`, so that precedence is part of what is shown.
CaseResult run_trace_case(std::span<const Rule> rules, const Rule& rule, const RuleCase& rule_case);

/// Runs a case of source code: given by whoever can analyse source.
using SourceCaseRunner =
    std::function<CaseResult(std::span<const Rule>, const Rule&, const RuleCase&)>;

/// Compares what was found with what was expected. Only findings of `rule` can be noisy.
struct Found {
  std::string rule_id;
  std::string file;
  uint32_t line = 0;
};
void compare_found(const Rule& rule, std::span<const Expectation> expected,
                   std::span<const Found> found, CaseResult& result);

}  // namespace stallscope
