#include "rule/config.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace stallscope;
namespace fs = std::filesystem;

namespace {

struct SettingsFolder {
  fs::path path = fs::path(STALLSCOPE_BINARY_DIR) / "config_test";
  SettingsFolder() {
    fs::remove_all(path);
    fs::create_directories(path / "sub" / "deep");
  }
  ~SettingsFolder() { fs::remove_all(path); }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

}  // namespace

TEST_CASE("a project file is read over what it extends") {
  const SettingsFolder folder;
  folder.write("base.yml",
               "rules: [company]\nignore: [no-compile]\nfail-on: low\nmin-severity: medium\n"
               "severities: {a: low, b: info}\n"
               "check: {classes: {host-sync: '<= 9 %', other: '<= 1 ms'}, findings: {a: 3}}\n");
  const std::string file = folder.write(
      "sub/stallscope.yml",
      "extends: ../base.yml\nrules: [mine]\nignore: [x]\nexclude: ['third_party/**']\n"
      "fail-on: high\nbaseline: base.json\nseverities: {a: high}\npath-map: {/workspace: .}\n"
      "per-path:\n  'tests/**': {ignore: [item-in-step], severities: {y: info}}\n"
      "check:\n  step-time: '<= 120 ms'\n  tolerance: 3 %\n  classes: {host-sync: '<= 5 %'}\n"
      "  findings: {critical: 0}\n");
  const auto config = load_config(file);
  REQUIRE_MESSAGE(config.ok(), (config ? "" : config.error().to_string()));
  CHECK(config->rule_folders == std::vector<std::string>{(folder.path / "company").string(),
                                                         (folder.path / "sub/mine").string()});
  CHECK(config->ignore == std::vector<std::string>{"no-compile", "x"});
  CHECK(config->fail_on == Severity::high);
  CHECK(config->min_severity == Severity::medium);
  CHECK(config->severities.at("a") == Severity::high);
  CHECK(config->severities.at("b") == Severity::info);
  CHECK(config->baseline == (folder.path / "sub/base.json").string());
  CHECK(config->path_map.front().first == "/workspace");
  REQUIRE(config->per_path.size() == 1);
  CHECK(config->check.tolerance == doctest::Approx(0.03));
  CHECK(config->check.step_time->low == doctest::Approx(120e6));
  REQUIRE(config->check.classes.size() == 2);
  CHECK(config->check.classes[0].is_share);
  CHECK(config->check.classes[0].comparison.low == doctest::Approx(0.05));
  CHECK_FALSE(config->check.classes[1].is_share);
  CHECK(config->check.findings.at("a") == 3);

  CHECK(find_config((folder.path / "sub/deep").string()) ==
        fs::weakly_canonical(folder.path / "sub/stallscope.yml").string());
}

TEST_CASE("a bad project file is named with its place") {
  const SettingsFolder folder;
  struct Case {
    std::string text, error;
  };
  for (const Case& c : std::vector<Case>{
           {"rulez: [a]\n", ":1:1: unknown key 'rulez', did you mean 'rules'?"},
           {"fail-on: hihg\n", ":1:10: unknown severity 'hihg', did you mean 'high'?"},
           {"min-severity: 2\n", ":1:15: unknown severity '2'"},
           {"severities: [a]\n", ":1:13: severities must be a map"},
           {"severities: {a: 3}\n", ":1:17: unknown severity '3'"},
           {"path-map: [a]\n", ":1:11: path-map must be a map"},
           {"per-path: {a: {ignroe: b}}\n", ":1:16: unknown key 'ignroe', did you mean 'ignore'?"},
           {"per-path: [a]\n", ":1:11: per-path must be a map"},
           {"check: {step-time: fast}\n", ":1:20: step-time must be compared with a number"},
           {"check: {tolerance: '<= 3 %'}\n", ":1:20: tolerance must be a share such as 3 %"},
           {"check: {classes: {host-sink: '<= 3 %'}}\n",
            ":1:19: unknown class 'host-sink', did you mean 'host-sync'?"},
           {"check: {classes: [a]}\n", ":1:18: classes must be a map"},
           {"check: {findings: {a: -1}}\n",
            ":1:23: a limit of findings must be a whole number, 0 or more"},
           {"check: {findings: {a: 1.5}}\n",
            ":1:23: a limit of findings must be a whole number, 0 or more"},
           {"extends: stallscope.yml\n",
            ":1:10: 'stallscope.yml' extends itself, or too many files"},
           {"extends: none.yml\n", ""}}) {
    CAPTURE(c.text);
    const std::string file = folder.write("stallscope.yml", c.text);
    const auto config = load_config(file);
    REQUIRE_FALSE(config.ok());
    const std::string shown = config.error().to_string();
    if (!c.error.empty()) CHECK_MESSAGE(shown.starts_with(file + c.error), shown);
  }
}

TEST_CASE("stray bytes in pyproject.toml are refused with their line") {
  const SettingsFolder folder;
  struct Case {
    std::string key, error;
  };
  for (const Case& c : std::vector<Case>{
           {"\xffrto.b", ":3: not valid TOML: not UTF-8"},
           {std::string("\0rto.b", 6), ":3:2: not valid TOML: "},
           {"!rto.b", ":3:2: not valid TOML: "},
           {"\xc8\xa8rto.b", ":3:2: not valid TOML: "},  // a letter, but of no bare key
       }) {
    const std::string file =
        folder.write("pyproject.toml", "[tool.stallscope]\nignore = [\"a\"]\n[" + c.key + "]\n");
    const auto config = load_config(file);
    REQUIRE_FALSE(config.ok());
    const std::string shown = config.error().to_string();
    CHECK_MESSAGE(shown.starts_with(file + c.error), shown);
  }
}

TEST_CASE("a pyproject.toml that cannot be meant so is refused with its line") {
  const SettingsFolder folder;
  std::string deep = "a", quoted = "\"", numbers;
  for (int i = 0; i < 100'000; ++i) deep += ".a", quoted += ".a", numbers += "1.5, ";
  struct Case {
    const char* what;
    std::string text, error;
  };
  for (const Case& c : std::vector<Case>{
           {"a table of too many parts", "[tool.stallscope." + deep + "]\n",
            ":1: not valid TOML: a key has too many parts"},
           {"a key of too many parts", "[tool.stallscope]\n" + deep + " = 1\n", ":2: not valid"},
           {"in a table in line", "[tool.stallscope]\nx = {" + deep + " = 1}\n", ":2: not valid"},
           {"a long text", "[tool.stallscope]\nbaseline = " + quoted + "\"\n", ""},
           {"many numbers", "[tool.stallscope]\nignore = []\n[tool.other]\nx = [" + numbers + "]\n",
            ""},
           {"several of it", "[[tool.stallscope]]\nignore = []\n",
            ":1: tool.stallscope is no table"},
           {"a value of it", "[tool]\nstallscope = 5\n", ":2: tool.stallscope is no table"}}) {
    const std::string file = folder.write("pyproject.toml", c.text);
    const auto config = load_config(file);
    const std::string shown = config.ok() ? "" : config.error().to_string();
    CHECK_MESSAGE(shown.starts_with(c.error.empty() ? "" : file + c.error), c.what << shown);
    CHECK_MESSAGE(config.ok() == c.error.empty(), c.what << shown);
  }
}

TEST_CASE("settings for paths") {
  Config config;
  config.per_path = {{.glob = "tests/**", .ignore = {"a"}, .severities = {{"b", Severity::info}}},
                     {.glob = "*_gen.py", .ignore = {"b"}, .severities = {}}};
  std::vector<Finding> findings(4);
  findings[3].rule_id = "b";
  findings[3].locations = {{.file = "src/deep/x_gen.py", .line = 1}};
  findings[0].rule_id = findings[2].rule_id = "a";
  findings[1].rule_id = "b";
  findings[0].locations = findings[1].locations = {{.file = "tests/x.py", .line = 1}};
  findings[2].locations = {{.file = "src/x.py", .line = 1}};
  findings[1].severity = Severity::high;
  std::erase_if(findings, [&](Finding& finding) {
    return ignored_at_path(config, finding.locations.front().file, finding);
  });
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].severity == Severity::info);
  CHECK(findings[1].locations[0].file == "src/x.py");
}
