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

const std::string root = STALLSCOPE_SOURCE_DIR "/rules";

struct Case {
  std::string id;  ///< of its rule
  std::string path;
  std::string text;
};

/// The cases that are written in a language which `read` accepts.
std::vector<Case> cases_in(bool (*read)(std::string_view language)) {
  std::vector<Case> out;
  for (const auto& folder : fs::directory_iterator(root + "/cases")) {
    for (const auto& file : fs::directory_iterator(folder.path())) {
      const std::string path = file.path().string();
      if (read(language_of_file(path)))
        out.push_back({folder.path().filename().string(), path, *read_file(path)});
    }
  }
  return out;
}

/// Holds every case to its marks. `types`: of each case, or empty when they are read by structure.
void check_cases(const std::vector<Case>& cases,
                 const std::vector<std::unique_ptr<ClangTypes>>& types) {
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
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& [id, path, text] = cases[i];
    const std::string name = fs::path(path).filename().string();
    std::map<std::string, const ClangTypes*> known;
    if (!types.empty()) {
      REQUIRE_MESSAGE(types[i], path);
      known[name] = types[i].get();
      options.typed.always = {name};
      options.typed.known = &known;
    }
    SourceIndex index = SourceIndex::build({{name, "", text}}, *compiled, options);
    Lines found;
    for (const SourceFact& fact : index.facts()) {
      if (names_rule(fact, id)) found.insert({fact.first_line, id});
    }
    const Lines expected = expected_lines(text, id, !types.empty());
    CHECK_MESSAGE(name.starts_with("fires") == !expected_lines(text, id, true).empty(), path);
    for (const auto& line : expected)
      CHECK_MESSAGE(found.contains(line), path << ":" << line.first << " did not fire");
    for (const auto& line : found)
      CHECK_MESSAGE(expected.contains(line), path << ":" << line.first << " is noise");
  }
}

}  // namespace

TEST_CASE("the cases beside the rules fire where they say and nowhere else") {
  const auto cases = cases_in([](std::string_view language) { return !language.empty(); });
  CHECK(cases.size() >= 400);
  check_cases(cases, {});
}

TEST_CASE("C++ cases are found by structure and by types alike") {
  if (find_libclang({}).empty()) {
    MESSAGE("libclang is not installed: not tested");
    return;
  }
  const auto cases =
      cases_in([](std::string_view language) { return language == "cpp" || language == "cuda"; });
  CHECK(cases.size() >= 150);
  std::vector<ClangFile> files;
  for (const Case& of : cases) files.push_back({of.path, of.text});
  ClangOptions clang;
  clang.on = true;
  clang.stubs = root + "/stubs";
  clang.root = root + "/cases";
  check_cases(cases, read_clang_types(files, clang).types);
}
