// How bad a finding of code alone may be called.
#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

#include "rule/evaluate.h"
#include "rule/load.h"
#include "source/facts/source_fact.h"

using namespace stallscope;

TEST_CASE("what code shows alone is no worse than it can be sure of") {
  const auto severity = [](const SourceFact& f, const std::string& head = {}) {
    const auto rule = parse_rule("id: read-in-source\nseverity: critical\n" + head +
                                     "languages: [python]\nwhy: w\ntitle: t\n"
                                     "source: {call: [tolist]}\n",
                                 "read-in-source.yaml");
    REQUIRE_MESSAGE(rule.ok(), (rule ? "" : rule.error().to_string()));
    const RuleResults results =
        evaluate(std::vector<Rule>{*rule}, nullptr, std::span(&f, 1), EvaluateOptions{});
    REQUIRE(results.findings.size() == 1);
    return results.findings.front().severity;
  };
  SourceFact f;
  f.rule_id = "read-in-source";
  f.file = "/src/train.py";
  f.first_line = f.last_line = 30;
  f.language = "python";
  f.context = "step";
  f.certainty = Certainty::likely;
  CHECK(severity(f) == Severity::critical);
  CHECK(severity(f, "unmeasured: low\n") == Severity::low);
  f.weak = true;
  CHECK(severity(f) == Severity::low);
  f.weak = false;
  // A library's function, of which no caller is seen: what it reads must be known, at least.
  f.guards = {"no-visible-caller"};
  f.lowered = 1;
  CHECK(severity(f) == Severity::low);
  f.certainty = Certainty::proven;
  CHECK(severity(f) == Severity::high);
  f.language = "cuda";
  CHECK(severity(f) == Severity::low);
}
