#include "rule/suppress.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "rule/baseline.h"

#include <filesystem>
#include <fstream>

using namespace stallscope;

namespace {

Finding finding(const char* rule, const char* file, uint32_t line, const char* print = "") {
  Finding f;
  f.rule_id = rule;
  f.locations = {{.file = file, .line = line, .column = 1, .function = "f", .language = "python"}};
  f.fingerprint = print;
  return f;
}

// "3-3 a,b reason" for each suppression.
std::string shown(const Suppressions& suppressions) {
  std::string text;
  for (const Suppression& s : suppressions.list) {
    text += std::to_string(s.first_line) + (s.last_line == s.first_line ? "" : "-") + " ";
    for (const std::string& id : s.ids) text += id + ",";
    text += s.reason + ";";
  }
  return text;
}

}  // namespace

TEST_CASE("comments are read where they are comments") {
  struct Case {
    std::string what;
    CommentStyle style;
    std::string text, expected;
  };
  const auto py = CommentStyle::hash, cpp = CommentStyle::slashes;
  for (const Case& c : std::vector<Case>{
           {"behind code", py, "a\nx = y.item()  # stallscope: ignore[item-in-step] once\n",
            "2 item-in-step,once;"},
           {"above code", py, "# stallscope: ignore[a]\nx = 1\n", "2 a,;"},
           {"above code, over blank lines and comments", py,
            "# stallscope: ignore[a] why\n\n# more\n\nx = 1\n", "5 a,why;"},
           {"several ids", py, "x = 1  # stallscope: ignore[a, b-c ,*]", "1 a,b-c,*,;"},
           {"no blanks", py, "x = 1  #stallscope:ignore[a]reason", "1 a,reason;"},
           {"whole file", py, "x = 1\n# stallscope: ignore-file[a] always\n", "1- a,always;"},
           {"in a text", py, "x = '# stallscope: ignore[a]'\n", ""},
           {"in a long text", py, "x = '''\n# stallscope: ignore[a]\n'''\ny = 1\n", ""},
           {"behind a text with a quote in it", py, "x = 'it\\'s'  # stallscope: ignore[a]\n",
            "1 a,;"},
           {"an open quote spoils its line only", py, "x = 'oops\ny = 1  # stallscope: ignore[a]\n",
            "2 a,;"},
           {"slashes are no comment in Python", py, "x = 1 // stallscope: ignore[a]\n", ""},
           {"C++ behind code", cpp, "f();  // stallscope: ignore[a] r\n", "1 a,r;"},
           {"C++ above code", cpp, "// stallscope: ignore[a]\nf();\n", "2 a,;"},
           {"C++ block comment", cpp, "f();  /* stallscope: ignore[a] r */ g();\n", "1 a,r;"},
           {"C++ text", cpp, "f(\"// stallscope: ignore[a]\");\n", ""},
           {"C++ raw text", cpp, "f(R\"x(\n// stallscope: ignore[a]\n)x\");\n", ""},
           {"C++ digit separator", cpp, "f(1'000);  // stallscope: ignore[a]\n", "1 a,;"},
           {"C++ character", cpp, "f('\"');  // stallscope: ignore[a]\n", "1 a,;"},
           {"carriage returns", cpp, "f();  // stallscope: ignore[a] r\r\n", "1 a,r;"},
           {"another tool's comment", py, "x = 1  # noqa: stallscope: ignore[a]\n", ""},
           {"open block comment", cpp, "f(); /* stallscope: ignore[a]", "1 a,;"}}) {
    CAPTURE(c.what);
    const Suppressions suppressions = parse_suppressions(c.text, c.style);
    CHECK(shown(suppressions) == c.expected);
    CHECK(suppressions.problems.empty());
  }
}

TEST_CASE("a suppression that does not work says why") {
  struct Case {
    std::string text, message;
  };
  for (const Case& c : std::vector<Case>{
           {"x  # stallscope: ignroe[a]", "unknown directive 'ignroe', did you mean 'ignore'?"},
           {"x  # stallscope: ignore",
            "name the rules to ignore in brackets: ignore[item-in-step]"},
           {"x  # stallscope: ignore[a",
            "name the rules to ignore in brackets: ignore[item-in-step]"},
           {"x  # stallscope: ignore[]", "'' is no rule id"},
           {"x  # stallscope: ignore[a b]", "'a b' is no rule id"},
           {"x  # stallscope:", "unknown directive ''"}}) {
    CAPTURE(c.text);
    const Suppressions suppressions = parse_suppressions(c.text, CommentStyle::hash);
    CHECK(suppressions.list.empty());
    REQUIRE(suppressions.problems.size() == 1);
    CHECK(suppressions.problems[0].message == c.message);
    CHECK(suppressions.problems[0].line == 1);
  }
}

TEST_CASE("suppressed findings go, unused suppressions are told") {
  std::map<std::string, Suppressions> by_file;
  by_file["a.py"] = parse_suppressions(
      "x  # stallscope: ignore[item-in-step, explicit-sync]\n"
      "# stallscope: ignore[*]\n"
      "y\n"
      "# stallscope: ignore-file[no-compile]\n"
      "# stallscope: ignore-file[gc-in-step]\n",
      CommentStyle::hash);
  std::vector<Finding> findings = {
      finding("item-in-step", "a.py", 1), finding("item-in-step", "b.py", 1),
      finding("item-in-step", "a.py", 2), finding("mask-recreated", "a.py", 3),
      finding("no-compile", "a.py", 40)};
  const SuppressionOutcome outcome = apply_suppressions(findings, by_file);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].locations[0].file == "b.py");
  CHECK(findings[1].locations[0].line == 2);
  CHECK(outcome.suppressed.size() == 3);
  REQUIRE(outcome.unused.size() == 2);
  CHECK(outcome.unused[0].id == "explicit-sync");
  CHECK(outcome.unused[0].line == 1);
  CHECK(outcome.unused[1].id == "gc-in-step");
}

TEST_CASE("a baseline accepts what it holds, as often as it holds it") {
  std::vector<Finding> known = {finding("a", "x.py", 1, "f1"), finding("a", "x.py", 9, "f1"),
                                finding("b", "y.py", 2, "f2")};
  const std::string path = std::string(STALLSCOPE_BINARY_DIR) + "/baseline_test.json";
  std::ofstream(path) << baseline_text(known);
  const auto baseline = load_baseline(path);
  REQUIRE(baseline.ok());

  std::vector<Finding> now = {finding("a", "renamed.py", 1, "f1"), finding("c", "z.py", 3, "f3")};
  std::vector<std::string> gone;
  CHECK(apply_baseline(*baseline, now, &gone).size() == 1);
  REQUIRE(now.size() == 1);
  CHECK(now[0].rule_id == "c");
  CHECK(gone == std::vector<std::string>{"f1", "f2"});

  std::vector<Finding> more = {finding("a", "x.py", 1, "f1"), finding("a", "x.py", 2, "f1"),
                               finding("a", "x.py", 3, "f1")};
  apply_baseline(*baseline, more);
  CHECK(more.size() == 1);

  struct Case {
    std::string text, message;
  };
  for (const Case& c : std::vector<Case>{
           {"{", "the baseline is not valid JSON"},
           {"[]", "the baseline has no list of 'findings'"},
           {"{\"findings\": []}", "the baseline is not of version 1.0"},
           {"{\"schemaVersion\": \"1.0\", \"findings\": [3]}",
            "an entry of the baseline has no 'fingerprint'"},
           {"{\"schemaVersion\": \"1.0\", \"findings\": [{\"fingerprint\": \"a\", \"count\": -1}]}",
            "the 'count' of an entry must be a positive number"}}) {
    CAPTURE(c.text);
    std::ofstream(path) << c.text;
    const auto bad = load_baseline(path);
    REQUIRE_FALSE(bad.ok());
    CHECK(bad.error().message == c.message);
  }
  std::filesystem::remove(path);
}
