// Whatever bytes are given as source code: facts, findings, fixes that parse,
// and comments; the same facts each time. The first byte chooses the language.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rule/edit.h"
#include "rule/load.h"
#include "rule/suppress.h"
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

std::vector<SourceFact> facts_of(const std::string& name, std::string_view text) {
  // Half of it is another file of the project: calls and imports lead across.
  const size_t middle = text.find("\n\n", text.size() / 2);
  const std::string first(text.substr(0, middle));
  const std::string second(middle == std::string_view::npos ? "" : text.substr(middle));
  IndexOptions options;
  options.threads = 1;
  return SourceIndex::build({{name, "", first}, {"pkg/" + name, "", second}}, bundled().compiled,
                            options)
      .facts();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static constexpr std::string_view kNames[] = {"a.py", "a.ipynb", "a.cpp", "a.cu"};
  const std::string name(kNames[data[0] % 4]);
  // Without a word of a framework nothing would be read.
  std::string text = data[0] % 2 == 0 ? "import torch\n" : "";
  text.append(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::vector<SourceFact> facts = facts_of(name, text);
  if (facts_of(name, text).size() != facts.size()) __builtin_trap();
  (void)parse_suppressions(text, comment_style(name));
  if (name != "a.py") return 0;
  for (const SourceFact& fact : facts) {
    if (fact.file != name) continue;
    const auto rule = std::ranges::find(bundled().rules, fact.rule_id, &Rule::id);
    auto edits = edits_of(rule->edit, text, {fact.first_byte, fact.last_byte});
    if (!edits.empty()) (void)apply_edits(text, std::move(edits));
  }
  return 0;
}
