// Every source case beside the rules: the lines marked `expect: ID` and no others.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/file.h"
#include "rule/load.h"
#include "source/index.h"
#include "source/link/frameworks.h"

using namespace stallscope;
namespace fs = std::filesystem;

namespace {

using Lines = std::set<std::pair<uint32_t, std::string>>;

/// The lines of `text` that say `expect: ID` for one id, or that of how it is read.
Lines expected_lines(const std::string& text, const std::string& id, bool typed) {
  const std::string here_only = typed ? "expect with types: " : "expect without types: ";
  Lines out;
  uint32_t line = 1;
  for (size_t at = 0; at < text.size(); ++line) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string_view here = std::string_view(text).substr(at, end - at);
    for (const std::string& mark : {"expect: " + id, here_only + id})
      if (here.find(mark) != std::string_view::npos) out.insert({line, id});
    at = end + 1;
  }
  return out;
}

/// Holds every case to its marks; `read` says which files.
void check_cases(const ClangOptions& clang, bool (*read)(std::string_view language),
                 size_t at_least) {
  const std::string root = STALLSCOPE_SOURCE_DIR "/rules";
  const std::vector<std::string> folders = {root};
  auto rules = load_rules(folders);
  REQUIRE_MESSAGE(rules.ok(), (rules.ok() ? "" : rules.error().to_string()));
  std::vector<SourceRule> source_rules;
  for (const Rule& rule : *rules) {
    SourceRule& to = source_rules.emplace_back();
    to.id = rule.id;
    to.condition = rule.source;
    to.once_per_function = rule.once_per_function;
    for (Language language : rule.languages) to.languages.emplace_back(to_string(language));
    to.host_block = rule.gain == GainModel::remove_sync || rule.gain == GainModel::batch_calls;
  }
  auto compiled = RuleSet::compile(source_rules);
  REQUIRE_MESSAGE(compiled.ok(), (compiled.ok() ? "" : compiled.error().to_string()));
  IndexOptions options;
  auto entries = load_entry_points(root + "/frameworks.yaml");
  REQUIRE(entries.ok());
  options.entry_points = *entries;
  options.clang = clang;
  size_t checked = 0;
  for (const auto& folder : fs::directory_iterator(root + "/cases")) {
    const std::string id = folder.path().filename().string();
    for (const auto& file : fs::directory_iterator(folder.path())) {
      if (!read(language_of_file(file.path().string()))) continue;
      const std::string text = *read_file(file.path().string());
      const std::string name = file.path().filename().string();
      SourceIndex index = SourceIndex::build({{name, "", text}}, *compiled, options);
      Lines found;
      for (const SourceFact& fact : index.facts()) {
        if (names_rule(fact, id)) found.insert({fact.first_line, id});
      }
      const Lines expected = expected_lines(text, id, clang.on);
      CHECK_MESSAGE(name.starts_with("fires") == !expected_lines(text, id, true).empty(),
                    file.path().string());
      for (const auto& line : expected)
        CHECK_MESSAGE(found.contains(line), file.path().string()
                                                << ":" << line.first << " did not fire");
      for (const auto& line : found)
        CHECK_MESSAGE(expected.contains(line), file.path().string()
                                                   << ":" << line.first << " is noise");
      ++checked;
    }
  }
  CHECK(checked >= at_least);
}

}  // namespace

TEST_CASE("the cases beside the rules fire where they say and nowhere else") {
  check_cases({}, [](std::string_view language) { return !language.empty(); }, 45);
}

TEST_CASE("C++ cases are found by structure and by types alike") {
  ClangOptions clang;
  clang.on = true;
  clang.stubs = STALLSCOPE_SOURCE_DIR "/rules/stubs";
  clang.root = STALLSCOPE_SOURCE_DIR "/rules/cases";
  if (find_libclang({}).empty()) {
    MESSAGE("libclang is not installed: not tested");
    return;
  }
  check_cases(
      clang, [](std::string_view language) { return language == "cpp" || language == "cuda"; }, 35);
}
