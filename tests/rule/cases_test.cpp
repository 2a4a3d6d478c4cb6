// Rule cases: expectations, and a check that fails when it should.
#include "rule/cases.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "rule/load.h"
#include "rule/scaffold.h"

using namespace stallscope;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::path(STALLSCOPE_BINARY_DIR) / "cases_test";
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
};

}  // namespace

TEST_CASE("expectations are read from comments") {
  const auto expected = parse_expectations(
      "# expect: a\n// expect: b src/train.py:14\n{\"kind\":\"range\"}\n  # expect: c x:1 \r\n# "
      "expected: d\n",
      "f");
  REQUIRE(expected.ok());
  REQUIRE(expected->size() == 3);
  CHECK((*expected)[0].rule_id == "a");
  CHECK((*expected)[1].file == "src/train.py");
  CHECK((*expected)[1].line == 14);
  CHECK((*expected)[2].rule_id == "c");
  for (const char* bad : {"# expect: a train.py", "# expect: a train.py:", "# expect: a :4",
                          "# expect: a train.py:x", "# expect: a train.py:4x"}) {
    const std::string text = bad;
    CAPTURE(text);
    const auto result = parse_expectations("\n" + text, "f");
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().line == 2);
  }
}

TEST_CASE("missing and noisy lines are told") {
  Rule rule;
  rule.id = "a";
  const std::vector<Expectation> expected = {{.rule_id = "a", .file = "d/x.py", .line = 3},
                                             {.rule_id = "b", .file = "", .line = 0}};
  struct Case {
    std::string what;
    std::vector<Found> found;
    std::vector<std::string> missing, noisy;
  };
  for (const Case& c :
       std::vector<Case>{{"as expected", {{"a", "/r/d/x.py", 3}, {"b", "y.py", 9}}, {}, {}},
                         {"another line",
                          {{"a", "/r/d/x.py", 4}, {"b", "", 0}},
                          {"a at d/x.py:3"},
                          {"a at /r/d/x.py:4"}},
                         {"another folder",
                          {{"a", "/r/e/x.py", 3}, {"b", "", 0}},
                          {"a at d/x.py:3"},
                          {"a at /r/e/x.py:3"}},
                         {"another rule's noise is its own",
                          {{"a", "d/x.py", 3}, {"b", "", 0}, {"c", "", 0}},
                          {},
                          {}},
                         {"nothing", {}, {"a at d/x.py:3", "b"}, {}}}) {
    CAPTURE(c.what);
    CaseResult result;
    compare_found(rule, expected, c.found, result);
    CHECK(result.missing == c.missing);
    CHECK(result.noisy == c.noisy);
    CHECK(result.ok() == (c.missing.empty() && c.noisy.empty()));
  }
}

TEST_CASE("a new rule works as it is, and its cases can fail") {
  const Folder folder;
  const auto written = scaffold_rule("copy-in-loop", folder.path.string());
  REQUIRE_MESSAGE(written.ok(), (written ? "" : written.error().to_string()));
  CHECK(written->size() == 3);
  const std::vector<std::string> folders = {STALLSCOPE_SOURCE_DIR "/rules", folder.path.string()};
  const auto rules = load_rules(folders);
  REQUIRE_MESSAGE(rules.ok(), (rules ? "" : rules.error().to_string()));
  const auto rule = std::ranges::find(*rules, "copy-in-loop", &Rule::id);
  REQUIRE(rule != rules->end());
  REQUIRE(rule->cases.size() == 2);
  for (const RuleCase& rule_case : rule->cases) {
    const CaseResult result = run_trace_case(*rules, *rule, rule_case);
    CHECK_MESSAGE(result.ok(), (result.error ? result.error->to_string() : rule_case.path));
  }
  // The same files with their parts exchanged must fail.
  CHECK_FALSE(run_trace_case(*rules, *rule, {rule->cases[1].path, true}).ok());
  CHECK(run_trace_case(*rules, *rule, {rule->cases[0].path, false}).error->message ==
        "a silent case expects its own rule");
  CHECK_FALSE(run_trace_case(*rules, *rule, {"/does/not/exist.jsonl", true}).ok());

  CHECK(scaffold_rule("copy-in-loop", folder.path.string()).error().message ==
        "file exists already");
  CHECK_FALSE(scaffold_rule("Copy Loop", folder.path.string()).ok());
}
