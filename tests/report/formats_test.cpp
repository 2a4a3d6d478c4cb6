// Every format against its golden file. STALLSCOPE_UPDATE_GOLDEN=1 rewrites them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/terminal.h"
#include "report/findings_format.h"
#include "report/sample_report.h"
#include "report/text.h"
#include "report/tool_info.h"

using namespace stallscope;

namespace {

std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void check_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path =
      std::filesystem::path(STALLSCOPE_SOURCE_DIR) / "tests/report/golden" / name;
  if (std::getenv("STALLSCOPE_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  CAPTURE(name);
  CHECK_MESSAGE(slurp(path) == text,
                "differs from the golden file; look at the difference, then run with "
                "STALLSCOPE_UPDATE_GOLDEN=1");
}

/// The version and commit of a build, and the terminal, must not be part of a golden file.
struct FixedTool {
  ToolInfo saved = tool_info();
  FixedTool() {
    disable_color();  // golden files are the same when the test runs in a terminal
    tool_info().version = "0.0.0";
    tool_info().commit = "";
  }
  ~FixedTool() { tool_info() = saved; }
};

}  // namespace

TEST_CASE("reports in every textual format") {
  const FixedTool fixed;
  const std::pair<const char*, Report> samples[] = {
      {"full", sample::full()}, {"abstaining", sample::abstaining()}, {"empty", sample::empty()}};
  for (const char* format : {"text", "markdown", "sarif", "junit", "github", "gitlab", "json"}) {
    const Format* found = find_format(format);
    REQUIRE(found != nullptr);
    for (const auto& [name, report] : samples) {
      // The full JSON is long and checked by its schema instead.
      if (format == std::string("json") && name == std::string("full")) continue;
      const Result<std::string> text = found->render(report);
      REQUIRE(text.ok());
      check_golden(std::string(name) + "." + format, *text);
    }
  }
}

TEST_CASE("the same report gives the same bytes") {
  for (const Format& format : formats()) {
    CAPTURE(format.name);
    CHECK(*format.render(sample::full()) == *format.render(sample::full()));
  }
}

TEST_CASE("colour is only where it was asked for") {
  const Report report = sample::full();
  CHECK(text_summary(report, {}).find('\x1b') == std::string::npos);
  CHECK(text_summary(report, {.colour = true}).find("\x1b[48;5;36m") != std::string::npos);
  CHECK(text_findings(report.findings, {}).find('\x1b') == std::string::npos);
}

TEST_CASE("a finding whose severity was lowered says why") {
  Finding finding = sample::full().findings.front();
  CHECK(text_findings({&finding, 1}, {}).find("lowered:") == std::string::npos);
  finding.lowered_because = {"under a debug flag"};
  CHECK(text_findings({&finding, 1}, {}).find("  lowered: under a debug flag\n") !=
        std::string::npos);
}

TEST_CASE("what a file is called is no command to what reads a workflow's log") {
  Finding finding = sample::full().findings.front();
  finding.locations = {{.file = "a\x1b[31m\n::error::b.py", .line = 1}};
  const auto text =
      render_findings("github", {.findings = std::vector<Finding>{finding}, .rules = {}});
  REQUIRE(text.ok());
  CHECK(text->find('\x1b') == std::string::npos);
  CHECK(text->find("\n::error::b") == std::string::npos);
}

TEST_CASE("findings alone, as lint prints them") {
  const FixedTool fixed;
  const Report report = sample::full();
  for (const FindingsFormat& format : findings_formats()) {
    CAPTURE(format.name);
    const auto text =
        render_findings(format.name, {report.findings, report.rules, report.warnings});
    REQUIRE(text.ok());
    // Those that need findings only are the same in a report.
    if (format.name == "text" || format.name == "markdown")
      check_golden("findings." + std::string(format.name), *text);
    else if (format.name != "json")
      CHECK(*text == *find_format(format.name)->render(report));
  }
  const auto unknown = render_findings("sarfi", {report.findings, report.rules});
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().remedy.find("sarif") != std::string::npos);
  CHECK(unknown.error().message == "there is no findings format 'sarfi', did you mean 'sarif'?");
  CHECK(render_findings("JSON", {}).error().message ==
        "there is no findings format 'JSON', did you mean 'json'?");
}

TEST_CASE("SARIF keeps what GitHub keeps and says what it left out") {
  std::vector<Finding> many(5'001, sample::full().findings.front());
  const auto text = render_findings("sarif", {many, {}});
  REQUIRE(text.ok());
  CHECK(text->find("\"resultsLeftOut\": ") != std::string::npos);
  CHECK(text->size() <= 10'000'000);
}

TEST_CASE("SARIF says what could not be read") {
  const std::vector<std::string> notes = {"a.py: 40 % of it could be parsed"};
  const auto text = render_findings("sarif", {{}, {}, notes});
  REQUIRE(text.ok());
  const auto run = nlohmann::json::parse(*text)["runs"][0];
  const auto& told = run["invocations"][0]["toolExecutionNotifications"];
  REQUIRE(told.size() == 1);
  CHECK(told[0]["message"]["text"] == notes[0]);
  CHECK(told[0]["level"] == "warning");
}

TEST_CASE("a thousand ranks fit into a page") {
  const auto page = find_format("html")->render(sample::many_ranks(1000));
  REQUIRE(page.ok());
  CHECK(page->size() <= 10'000'000);
}

TEST_CASE("the page without data is a small shell, a typical one is under a megabyte") {
  CHECK(find_format("html")->render(sample::empty())->size() <= 150'000);
  CHECK(find_format("html")->render(sample::full())->size() <= 1'000'000);
}
