// What holds for every rule that comes with the tool.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "rule/cases.h"
#include "rule/load.h"

using namespace stallscope;

TEST_CASE("the bundled rules load and are complete") {
  const std::vector<std::string> folders = {STALLSCOPE_SOURCE_DIR "/rules"};
  const auto rules = load_rules(folders);
  REQUIRE_MESSAGE(rules.ok(), (rules ? "" : rules.error().to_string()));
  size_t with_trace = 0;
  std::set<std::string> fallbacks;
  for (const Rule& rule : *rules) {
    CAPTURE(rule.id);
    with_trace += rule.trace.empty() ? 0 : 1;
    if (rule.fallback) fallbacks.insert(rule.id);
    CHECK(rule.title.size() <= 80);
    CHECK(rule.title.back() != '.');
    CHECK(rule.why.size() >= 40);
    CHECK_FALSE(rule.fix.before.empty());
    CHECK_FALSE(rule.fix.after.empty());
  }
  CHECK(with_trace >= 25);
  CHECK(fallbacks == std::set<std::string>{"host-sync", "host-gap", "exposed-collective",
                                           "python-in-step", "repeated-kernels"});
}

TEST_CASE("the trace cases of the bundled rules hold") {
  const std::vector<std::string> folders = {STALLSCOPE_SOURCE_DIR "/rules"};
  const auto rules = load_rules(folders);
  REQUIRE(rules.ok());
  size_t run = 0;
  for (const Rule& rule : *rules) {
    CAPTURE(rule.id);
    size_t fires = 0, silent = 0;
    for (const RuleCase& rule_case : rule.cases) {
      if (!rule_case.is_trace()) continue;
      CAPTURE(rule_case.path);
      (rule_case.fires ? fires : silent) += 1;
      const CaseResult result = run_trace_case(*rules, rule, rule_case);
      CHECK_MESSAGE(!result.error, (result.error ? result.error->to_string() : ""));
      CHECK(result.missing == std::vector<std::string>{});
      CHECK(result.noisy == std::vector<std::string>{});
      ++run;
    }
    if (rule.trace.empty()) continue;
    CHECK(fires >= 1);
    CHECK(silent >= 1);
  }
  CHECK(run >= 50);
}
