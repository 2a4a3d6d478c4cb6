// Whatever bytes are given as source code: facts, findings, fixes that parse,
// and comments; the same facts each time. The first byte chooses the language, form feeds begin
// other files of the project.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rule/edit.h"
#include "rule/load.h"
#include "rule/suppress.h"
#include "source/extract/emptied_bodies.h"
#include "source/index.h"

namespace {

using namespace stallscope;

struct Bundled {
  std::vector<Rule> rules;
  std::vector<SourceRule> conditions;
  RuleSet compiled;
};

const Bundled& bundled() {
  static const Bundled all = [] {
    Bundled out;
    auto rules = load_bundled_rules({});
    if (!rules) __builtin_trap();
    out.rules = std::move(*rules);
    for (const Rule& rule : out.rules) {
      SourceRule& to = out.conditions.emplace_back();
      to.id = rule.id;
      to.condition = rule.source;
      to.host_block = true;
      for (Language language : rule.languages) to.languages.emplace_back(to_string(language));
    }
    auto compiled = RuleSet::compile(out.conditions);
    if (!compiled) __builtin_trap();
    out.compiled = std::move(*compiled);
    return out;
  }();
  return all;
}

/// Whose imports and includes of each other can be resolved.
using FileNames = std::array<std::string_view, 4>;
constexpr FileNames kPython = {"a.py", "b.py", "pkg/__init__.py", "pkg/c.py"};
constexpr FileNames kNotebook = {"a.ipynb", "b.py", "pkg/__init__.py", "pkg/c.py"};
constexpr FileNames kCpp = {"a.cpp", "a.h", "b.cpp", "b.cu"};
constexpr FileNames kCuda = {"a.cu", "a.h", "b.cu", "b.cpp"};
constexpr std::array<FileNames, 4> kProjects = {kPython, kNotebook, kCpp, kCuda};
constexpr char kNextFile = '\f';

/// The files of a project, of which the first is `text` as far as its first form feed.
std::vector<SourceInput> project_of(const FileNames& names, std::string_view text) {
  std::vector<SourceInput> out;
  for (const std::string_view name : names) {
    const size_t end = std::min(text.find(kNextFile), text.size());
    out.push_back({std::string(name), "", std::string(text.substr(0, end))});
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

/// Of one file its half is another of the project: calls and imports lead across.
void cut_in_two(std::vector<SourceInput>& project) {
  std::string& first = project.front().bytes;
  const size_t middle = std::min(first.find("\n\n", first.size() / 2), first.size());
  std::string second = first.substr(middle);
  first.resize(middle);
  project.push_back({"pkg/" + project.front().path, "", std::move(second)});
}

std::vector<SourceFact> facts_of(const FileNames& names, std::string_view text) {
  std::vector<SourceInput> project = project_of(names, text);
  if (project.size() == 1) cut_in_two(project);
  IndexOptions options;
  options.threads = 1;
  return SourceIndex::build(project, bundled().compiled, options).facts();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const FileNames& names = kProjects[data[0] % kProjects.size()];
  const std::string name(names.front());
  // Without a word of a framework nothing would be read.
  std::string text = data[0] % 2 == 0 ? "import torch\n" : "";
  text.append(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::vector<SourceFact> facts = facts_of(names, text);
  if (facts_of(names, text).size() != facts.size()) __builtin_trap();
  text.resize(std::min(text.find(kNextFile), text.size()));
  (void)parse_suppressions(text, comment_style(name));
  const auto all = [](const Node&) { return true; };
  if (with_emptied_bodies(text, all).size() != text.size()) __builtin_trap();
  if (name != "a.py") return 0;
  for (const SourceFact& fact : facts) {
    if (fact.file != name) continue;
    const auto rule = std::ranges::find(bundled().rules, fact.rule_id, &Rule::id);
    auto edits = edits_of(rule->edit, text, {fact.first_byte, fact.last_byte});
    if (!edits.empty()) (void)apply_edits(text, std::move(edits));
  }
  return 0;
}
