#include "cli/source_case.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/lines.h"
#include "cli/source_analysis.h"

namespace stallscope {
namespace {

/// The lines on which `id` must fire, read with types or without.
std::vector<Expectation> expected_lines(std::string_view text, const std::string& file,
                                        const std::string& id, bool typed) {
  const std::string_view here_only = typed ? "expect with types: " : "expect without types: ";
  std::vector<Expectation> out;
  for (Lines lines(text); lines.next();) {
    for (const std::string_view mark : {std::string_view("expect: "), here_only}) {
      std::string_view here = lines.line();
      const size_t at = here.find(mark);
      if (at == std::string_view::npos) continue;
      here.remove_prefix(at + mark.size());
      if (here.substr(0, here.find_first_of(" \t\r")) != id) continue;
      out.push_back({.rule_id = id, .file = file, .line = static_cast<uint32_t>(lines.number())});
    }
  }
  return out;
}

bool is_compiled_case(const RuleCase& rule_case) {
  const std::string_view language = language_of_file(rule_case.path);
  return !rule_case.is_trace() && (language == "cpp" || language == "cuda");
}

}  // namespace

CaseTypes::CaseTypes(std::span<const Rule> tested, const std::string& libclang) {
  std::vector<ClangFile> files;
  for (const Rule& rule : tested) {
    for (const RuleCase& rule_case : rule.cases) {
      if (!is_compiled_case(rule_case)) continue;
      const auto text = read_file(rule_case.path);
      if (!text) continue;  // said where the case is run
      by_path_.emplace(rule_case.path, files.size());
      files.push_back({std::filesystem::absolute(rule_case.path).lexically_normal().string(),
                       counted_text(*text)});
    }
  }
  if (files.empty()) return;
  const std::string folder = std::filesystem::path(tested.front().file).parent_path().string();
  const ClangOptions options =
      clang_options(std::filesystem::absolute(folder).lexically_normal().string(), libclang);
  if (options.on)
    layer_ = read_clang_types(files, options);
  else
    layer_.types.resize(files.size());
}

const ClangTypes* CaseTypes::of(const std::string& path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : layer_.types[found->second].get();
}

CaseResult run_source_case(std::span<const Rule> rules, const Rule& rule, const RuleCase& rule_case,
                           const CaseTypes& types) {
  CaseResult result = begin_case(rule, rule_case);
  const auto failed = [&](const Error& error) {
    result.error = error;
    return result;
  };
  const auto text = read_file(rule_case.path);
  if (!text) return failed(text.error());
  const std::string name = std::filesystem::path(rule_case.path).filename().string();
  const auto compiled = compile_source_rules(rules);
  if (!compiled) return failed(compiled.error());
  auto options = index_options();
  if (!options) return failed(options.error());
  bool expects = false;
  const auto read = [&](bool typed) {
    const SourceIndex index = SourceIndex::build({{name, "", *text}}, *compiled, *options);
    std::vector<Found> found;
    for (const SourceFact& fact : index.facts()) {
      if (names_rule(fact, rule.id))
        found.push_back({.rule_id = rule.id, .file = fact.file, .line = fact.first_line});
    }
    const std::vector<Expectation> expected = expected_lines(*text, name, rule.id, typed);
    expects = expects || !expected.empty();
    compare_found(rule, expected, found, result);
  };
  read(false);
  if (const ClangTypes* known = types.of(rule_case.path)) {
    const std::map<std::string, const ClangTypes*> by_name = {{name, known}};
    options->typed.known = &by_name;
    options->typed.always = {name};
    const size_t missing = result.missing.size(), noisy = result.noisy.size();
    read(true);
    for (size_t i = missing; i < result.missing.size(); ++i) result.missing[i] += " with types";
    for (size_t i = noisy; i < result.noisy.size(); ++i) result.noisy[i] += " with types";
  }
  expects = expects || !expected_lines(*text, name, rule.id, true).empty();
  if (rule_case.fires && !expects) {
    return failed({.message = "a firing case marks no line with 'expect: " + rule.id + "'",
                   .file = rule_case.path});
  }
  return result;
}

}  // namespace stallscope
