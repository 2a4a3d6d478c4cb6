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

// "3-4 a,b,reason;" for each suppression; "1-" is a whole file.
std::string shown(const Suppressions& suppressions) {
  std::string text;
  for (const Suppression& s : suppressions.list) {
    text += std::to_string(s.first_line);
    if (s.whole_file)
      text += "-";
    else if (s.last_line != s.first_line)
      text += "-" + std::to_string(s.last_line);
    text += " ";
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
           {"open block comment", cpp, "f(); /* stallscope: ignore[a]", "1 a,;"},
           {"behind a type comment", py, "x = 1  # type: ignore  # stallscope: ignore[a] r\n",
            "1 a,r;"},
           {"behind a linter's comment", py, "x = 1  # noqa: E501 # stallscope: ignore[a]\n",
            "1 a,;"},
           {"behind a comment of C++", cpp, "f();  // NOLINT(x)  // stallscope: ignore[a]\n",
            "1 a,;"},
           {"two of ours", py, "x = 1  # stallscope: ignore[a] r  # stallscope: ignore[b]\n",
            "1 a,r;1 b,;"},
           {"a number in the reason", py, "x = 1  # stallscope: ignore[a] see #12\n",
            "1 a,see #12;"},
           {"told of in a comment", py, "x = 1  # write `# stallscope: ignore[a]`\n", ""},
           {"code taken out", py, "# x.item()  # stallscope: ignore[a]\ny.item()\n", ""},
           {"a text with a comment behind a comment", py,
            "x = 'a # noqa # stallscope: ignore[a]'\n", ""}}) {
    CAPTURE(c.what);
    const Suppressions suppressions = parse_suppressions(c.text, c.style);
    CHECK(shown(suppressions) == c.expected);
    CHECK(suppressions.problems.empty());
  }
}

TEST_CASE("a comment is about all lines that are joined to its own") {
  struct Case {
    std::string what;
    CommentStyle style;
    std::string text, expected;
  };
  const auto py = CommentStyle::hash, cpp = CommentStyle::slashes, sh = CommentStyle::shell,
             yaml = CommentStyle::yaml;
  for (const Case& c : std::vector<Case>{
           {"above a continued statement", py,
            "# stallscope: ignore[a]\nx = x + \\\n  y.item() + \\\n  1\nz\n", "2-4 a,;"},
           {"behind its last line", py, "x = x + \\\n  y.item()  # stallscope: ignore[a]\nz\n",
            "1-2 a,;"},
           {"Windows line ends", py, "# stallscope: ignore[a]\r\nx = \\\r\n  y\r\nz\r\n",
            "2-3 a,;"},
           {"between continued lines, where none can stand", py,
            "x = x + \\\n  # stallscope: ignore[a]\n  y.item()\n", "1-2 a,;"},
           {"above a long text", py,
            "# stallscope: ignore[a]\nx = f'''{y.item()}\n  {z.item()}'''\n", "2-3 a,;"},
           {"a text that a backslash continues", py, "x = 'a\\\n b'  # stallscope: ignore[a]\n",
            "1-2 a,;"},
           {"in parentheses each line has its own", py, "x = (y +\n  z)  # stallscope: ignore[a]\n",
            "2 a,;"},
           {"above a decorator", py, "# stallscope: ignore[a]\n@b\ndef c():\n", "2 a,;"},
           {"above a macro", cpp, "// stallscope: ignore[a]\n#define M \\\n  f();\n", "2-3 a,;"},
           {"in a macro each line has its own", cpp,
            "#define M \\\n  f(); /* stallscope: ignore[a] */ \\\n  /* stallscope: ignore[c] */ "
            "\\\n  g(); // stallscope: ignore[b]\n",
            "2 a,;4 c,;1-4 b,;"},
           {"above a raw text", cpp, "// stallscope: ignore[a]\nf(R\"(\n)\");\n", "2-3 a,;"},
           {"above a command", sh, "# stallscope: ignore[a]\ntorchrun \\\n  --x 0 \\\n  y\nz\n",
            "2-4 a,;"},
           {"above a long text of shell", sh, "# stallscope: ignore[a]\nbash -c 'a\n b \\' \nz\n",
            "2-3 a,;"},
           {"a # inside a word of shell", sh, "echo $# a#b ${#c}\nd  # stallscope: ignore[a]\n",
            "2 a,;"},
           {"an open quote of shell spoils its line only", sh,
            "echo don't\nx  # stallscope: ignore[a]\n", "2 a,;"},
           {"above a here-document", sh,
            "# stallscope: ignore[a]\ncat <<'END' >x\nit's\n  END of it\nEND\nz\n", "2-5 a,;"},
           {"in a here-document, a script of its own", sh,
            "cat <<-EOF\nx=1  # stallscope: ignore[a]\n# stallscope: ignore[b]\ny=1\n\tEOF\n",
            "2 a,;4 b,;"},
           {"a shift is no here-document", sh, "n=$((1<<N))\nx=1 # stallscope: ignore[a]\n",
            "2 a,;"},
           {"YAML", yaml, "a: http://x#y\nb: don't  # stallscope: ignore[a]\n", "2 a,;"},
           {"above a block of YAML", yaml,
            "# stallscope: ignore[a]\n- run: |\n    x\n\n    y\n  b: 1\n", "2-5 a,;"},
           {"in a block of YAML, a script of its own", yaml,
            "run: |\n  x  # stallscope: ignore[a]\n  y\n", "2 a,;"},
           {"above a value of YAML that goes on", yaml,
            "# stallscope: ignore[a]\n- run: x\n    --y\n  b: 1\n", "2-3 a,;"},
           {"above an item of YAML", yaml, "# stallscope: ignore[a]\n- a: 1\n  b: 2\n", "2 a,;"},
           {"keys below a key of YAML", yaml, "# stallscope: ignore[a]\na:\n  b: 2\n", "2 a,;"}}) {
    CAPTURE(c.what);
    CHECK(shown(parse_suppressions(c.text, c.style)) == c.expected);
  }
}

TEST_CASE("how comments are written follows from the language") {
  struct Case {
    const char* file;
    CommentStyle style;
  };
  for (const Case& c : {Case{"a.py", CommentStyle::hash},
                        {"a.pyw", CommentStyle::hash},
                        {"a.pyi", CommentStyle::hash},
                        {"a.ipynb", CommentStyle::hash},
                        {"program", CommentStyle::hash},
                        {"pyproject.toml", CommentStyle::hash},
                        {"a.cpp", CommentStyle::slashes},
                        {"a.cuh", CommentStyle::slashes},
                        {"a.json", CommentStyle::slashes},
                        {"a.sh", CommentStyle::shell},
                        {"a.bash", CommentStyle::shell},
                        {"a.slurm", CommentStyle::shell},
                        {"a.sbatch", CommentStyle::shell},
                        {"a.yaml", CommentStyle::yaml},
                        {"a.yml", CommentStyle::yaml}})
    CHECK_MESSAGE(comment_style(c.file) == c.style, c.file);
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
  Baseline written;
  for (const Finding& f : known) written.add(f);
  std::ofstream(path) << baseline_text(written);
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

  // Equal code in two files: what is where it was is known, whatever comes first.
  std::vector<Finding> copied = {finding("b", "copy.py", 2, "f2"), finding("b", "y.py", 2, "f2")};
  apply_baseline(*baseline, copied);
  REQUIRE(copied.size() == 1);
  CHECK(copied[0].locations[0].file == "copy.py");
  std::vector<Finding> one_file = {finding("b", "copy.py", 2, "f2")};
  apply_baseline(*baseline, one_file, nullptr, [](const std::string&) { return false; });
  CHECK(one_file.size() == 1);  // y.py was not looked at

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
