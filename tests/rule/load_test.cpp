// Every message of the rule loader, with its place.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "rule/load.h"

using namespace stallscope;
namespace fs = std::filesystem;

namespace {

const std::string kHead =
    "id: my-rule\ntitle: Do it once\nseverity: high\nlanguages: [python]\nwhy: Because.\n";
const std::string kTrace = "trace: {observe: host-sync}\n";

/// `text` goes into my-rule.yaml after the given beginning.
struct Case {
  std::string text;
  std::string error;  ///< as shown: file:line:column: message (remedy)
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const auto rule = parse_rule(c.text, "my-rule.yaml");
    REQUIRE_FALSE(rule.ok());
    const std::string shown = rule.error().to_string();
    CHECK_MESSAGE(shown.starts_with(c.error), shown);
  }
}

}  // namespace

TEST_CASE("a whole rule is read as written") {
  const auto rule = parse_rule(kHead + R"(tier: advice
startup: true
trace:
  - observe: host-sync
    where: {bytes: "<= 16", per_step: ">= 1", any: [{call: copy-blocking}, {not: {copy: ""}}]}
  - {observe: pageable-copy}
environment: {CUDA_LAUNCH_BLOCKING: "1"}
gain: {model: remove-sync, share: 0.5}
fix:
  applicability: safe
  before: a
  after: b
cases:
  fires: [cases/my-rule/fires.jsonl]
  silent: [cases/my-rule/silent.py]
references: [https://example.org]
)",
                               "folder/my-rule.yaml");
  // An empty text cannot be compared with: `copy: ""` above is refused.
  REQUIRE_FALSE(rule.ok());
  CHECK(rule.error().message == "a comparison is empty");

  const auto good = parse_rule(kHead + R"(tier: advice
startup: true
trace:
  - observe: host-sync
    where: {bytes: "<= 16", per_step: ">= 1", any: [{call: copy-blocking}, {not: {copy: x}}]}
  - {observe: pageable-copy}
environment: {CUDA_LAUNCH_BLOCKING: "1"}
gain: {model: remove-sync, share: 0.5}
fix:
  applicability: safe
  before: a
  after: b
cases:
  fires: [cases/my-rule/fires.jsonl]
  silent: [cases/my-rule/silent.py]
references: [https://example.org]
)",
                               "folder/my-rule.yaml");
  REQUIRE_MESSAGE(good.ok(), (good ? "" : good.error().to_string()));
  CHECK(good->id == "my-rule");
  CHECK(good->severity == Severity::high);
  CHECK(good->unmeasured == Severity::critical);
  CHECK(good->advice);
  CHECK(good->startup);
  CHECK_FALSE(good->fallback);
  REQUIRE(good->trace.size() == 2);
  CHECK(good->trace[0].where.children.size() == 3);
  CHECK(good->environment.size() == 1);
  CHECK(good->gain == GainModel::remove_sync);
  CHECK(good->gain_share == 0.5);
  CHECK(good->fix.applicability == Applicability::safe);
  REQUIRE(good->cases.size() == 2);
  CHECK(good->cases[0].path == "folder/cases/my-rule/fires.jsonl");
  CHECK(good->cases[0].is_trace());
  CHECK_FALSE(good->cases[1].fires);
}

TEST_CASE("a bad head is named with its place") {
  check({
      {"", "my-rule.yaml: file is empty"},
      {"a: [",
       "my-rule.yaml:1:5: not valid YAML: did not find expected node content while parsing a flow "
       "node"},
      {"- a\n", "my-rule.yaml:1:1: a rule file must be a map of keys to values"},
      {kHead + kTrace + "---\nid: b\n", "my-rule.yaml:7:1: file holds more than one document"},
      {kHead + "id: my-rule\n", "my-rule.yaml:6:1: key 'id' is given twice"},
      {"[a, b]: c\n", "my-rule.yaml:1:1: a key must be a plain text"},
      {std::string("id: a\0b", 7), "my-rule.yaml: file contains a NUL byte"},
      {"titel: x\n",
       "my-rule.yaml:1:1: unknown key 'titel', did you mean 'title'? (Expected one "
       "of: id, title, severity,"},
      {"title: x\n", "my-rule.yaml:1:1: key 'id' is missing"},
      {"id: [a]\n", "my-rule.yaml:1:5: id must be a text"},
      {"id: ''\n", "my-rule.yaml:1:5: id is empty"},
      {"id: My_Rule\n", "my-rule.yaml:1:5: id 'My_Rule' must be lower-case words joined by '-'"},
      {"id: other\n",
       "my-rule.yaml:1:5: id 'other' differs from the file's name 'my-rule' (Name "
       "the file other.yaml.)"},
      {"id: my-rule\ntitle: t\nwhy: w\nseverity: hihg\n",
       "my-rule.yaml:4:11: unknown severity 'hihg', did you mean 'high'? (Expected one of: "
       "critical, high, medium, low, info.)"},
      {"id: my-rule\ntitle: t\nwhy: w\nseverity: low\nunmeasured: lo\n",
       "my-rule.yaml:5:13: unknown unmeasured 'lo', did you mean 'low'?"},
      {"id: my-rule\ntitle: t\nwhy: w\nseverity: low\nlanguages: [pyhton]\n",
       "my-rule.yaml:5:12: unknown language 'pyhton', did you mean 'python'?"},
      {"id: my-rule\ntitle: t\nwhy: w\nseverity: low\nlanguages: []\n",
       "my-rule.yaml:5:12: languages is empty"},
      {"id: my-rule\ntitle: t\nwhy: w\nseverity: low\nlanguages: {a: b}\n",
       "my-rule.yaml:5:12: languages must be a list of texts"},
      {kHead + kTrace + "tier: zzz\n", "my-rule.yaml:7:7: unknown tier 'zzz' (Expected one of"},
      {kHead + kTrace + "fallback: maybe\n", "my-rule.yaml:7:11: fallback must be true or false"},
      {kHead,
       "my-rule.yaml:1:1: the rule can never fire: it has neither source, trace nor "
       "environment (Add a `source:` or a `trace:` block.)"},
      {kHead + "environment: {A: 1}\nfallback: true\n",
       "my-rule.yaml:7:11: a fallback rule needs a `trace:` block"},
  });
}

TEST_CASE("a bad condition is named with its place") {
  check({
      {kHead + "trace: []\n", "my-rule.yaml:6:8: trace is an empty list"},
      {kHead + "trace: host-sync\n", "my-rule.yaml:6:8: trace must be a map of keys to values"},
      {kHead + "trace: {where: {}}\n", "my-rule.yaml:6:8: key 'observe' is missing"},
      {kHead + "trace: {observer: x}\n",
       "my-rule.yaml:6:9: unknown key 'observer', did you mean 'observe'?"},
      {kHead + "trace: {observe: host-sink}\n",
       "my-rule.yaml:6:18: unknown kind of observation 'host-sink', did you mean 'host-sync'?"},
      {kHead + "trace: {observe: host-sync, where: 5}\n",
       "my-rule.yaml:6:36: where must be a map of fields to comparisons"},
      {kHead + "trace:\n  observe: host-sync\n  where: {byte: 5}\n",
       "my-rule.yaml:8:11: unknown field of host-sync 'byte', did you mean 'bytes'?"},
      {kHead + "trace: {observe: host-sync, where: {bytes: '<= x'}}\n",
       "my-rule.yaml:6:44: expected a number after the operator, found 'x' (Units may be"},
      {kHead + "trace: {observe: host-sync, where: {bytes: {a: b}}}\n",
       "my-rule.yaml:6:44: a comparison must be a text"},
      {kHead + "trace: {observe: host-sync, where: {call: [a, [b]]}}\n",
       "my-rule.yaml:6:47: an item of a list to compare with must be a text"},
      {kHead + "trace: {observe: host-sync, where: {any: {bytes: 4}}}\n",
       "my-rule.yaml:6:42: 'any' must be a list of conditions"},
      {kHead + "trace: {observe: host-sync, where: {all: []}}\n",
       "my-rule.yaml:6:42: 'all' must be a list of conditions"},
      {kHead + "trace: {observe: host-sync, where: {any: [5]}}\n",
       "my-rule.yaml:6:43: an item of 'any' must be a map of fields to comparisons"},
      {kHead + "environment: [A]\n",
       "my-rule.yaml:6:14: environment must be a map of variables to values"},
      {kHead + "source: {cal: [item]}\n", "my-rule.yaml:6:"},
      {kHead + "source: {call: [item], weak: maybe}\n",
       "my-rule.yaml:6:30: `weak` can only be true"},
  });
}

TEST_CASE("bad gains, fixes and cases are named with their place") {
  const std::string start = kHead + kTrace;
  check({
      {start + "gain: remove-synk\n",
       "my-rule.yaml:7:7: unknown gain model 'remove-synk', did you mean 'remove-sync'?"},
      {start + "gain: {share: 0.5}\n", "my-rule.yaml:7:7: key 'model' is missing"},
      {start + "gain: {model: none, sahre: 1}\n",
       "my-rule.yaml:7:21: unknown key 'sahre', did you mean 'share'?"},
      {start + "gain: {model: none, share: 1.5}\n",
       "my-rule.yaml:7:28: share must be above 0 and at most 1"},
      {start + "gain: {model: shrink-host, of: blockd_ns}\n",
       "my-rule.yaml:7:32: unknown field of time 'blockd_ns', did you mean 'blocked_ns'?"},
      {start + "gain: {model: none, share: half}\n", "my-rule.yaml:7:28: share must be a number"},
      {start + "fix: {before: a}\n", "my-rule.yaml:7:6: key 'after' is missing"},
      {start + "fix: {befor: a}\n",
       "my-rule.yaml:7:7: unknown key 'befor', did you mean 'before'?"},
      {start + "fix: {applicability: save, before: a, after: b}\n",
       "my-rule.yaml:7:22: unknown applicability 'save', did you mean 'safe'?"},
      {start + "cases: {fire: []}\n",
       "my-rule.yaml:7:9: unknown key 'fire', did you mean 'fires'?"},
      {start + "cases: {fires: [a.txt]}\n",
       "my-rule.yaml:7:16: case 'a.txt' is of no known kind (Cases end in .py, .cpp, .cu, .json, "
       ".yaml, .sh "
       "or .jsonl.)"},
  });
}

TEST_CASE("hostile files are refused, not endured") {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'i'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 9; ++i) bomb += "*" + before + ", ";
    bomb += "*" + before + "]\n";
  }
  std::string deep = "id: ";
  for (int i = 0; i < 40; ++i) deep += "[";
  deep += "a";
  for (int i = 0; i < 40; ++i) deep += "]";
  check({
      {bomb, "my-rule.yaml:"},
      {deep, "my-rule.yaml:1:"},
      {"id: " + std::string(100'000, '['), "my-rule.yaml:"},
      {std::string(300 * 1024, 'a'), "my-rule.yaml: file is larger than 256 KiB"},
      {"id: *none\n", "my-rule.yaml:1:"},
      {"a: &a [*a]\n", "my-rule.yaml:1:"},
      {"\xff\xfe\xfd", "my-rule.yaml"},
      {"&i, retet(rdrM-i\x06", "my-rule.yaml"},  // another reader never came back from this
  });
}

TEST_CASE("folders of rules") {
  const fs::path folder = fs::path(STALLSCOPE_BINARY_DIR) / "load_test";
  fs::remove_all(folder);
  fs::create_directories(folder / "one");
  fs::create_directories(folder / "two");
  fs::create_directories(folder / "none");
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  write("one/my-rule.yaml", kHead + kTrace);
  write("one/notes.txt", "not a rule");
  write("two/my-rule.yml", kHead + "trace: {observe: copy}\n");

  const std::vector<std::string> both = {(folder / "one").string(), (folder / "two").string()};
  const auto rules = load_rules(both);
  REQUIRE(rules.ok());
  REQUIRE(rules->size() == 1);
  CHECK(rules->front().trace.front().kind == "copy");  // the later folder replaces

  const std::vector<std::string> missing = {(folder / "three").string()};
  REQUIRE_FALSE(load_rules(missing).ok());
  CHECK(load_rules(missing).error().message.starts_with("cannot read the rule folder"));
  const std::vector<std::string> empty = {(folder / "none").string()};
  REQUIRE_FALSE(load_rules(empty).ok());
  CHECK(load_rules(empty).error().message == "the rule folder holds no rule files (*.yaml)");

  write("one/my-rule.yml", kHead + kTrace);
  const std::vector<std::string> one = {(folder / "one").string()};
  REQUIRE_FALSE(load_rules(one).ok());
  CHECK(load_rules(one).error().message.starts_with("rule 'my-rule' is already defined in "));
  fs::remove_all(folder);
}
