#include "cli/fix_case.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/file.h"
#include "cli/source_analysis.h"
#include "rule/edit.h"

namespace stallscope {

Status run_fix_case(std::span<const Rule> rules, const Rule& rule) {
  const std::filesystem::path folder = std::filesystem::path(rule.file).parent_path() / "fixes";
  const std::string path = (folder / (rule.id + ".py")).string();
  auto text = read_file(path);
  if (!text) return text.error();
  const auto wanted = read_file((folder / (rule.id + ".fixed.py")).string());
  if (!wanted) return wanted.error();
  const auto compiled = compile_source_rules(rules);
  if (!compiled) return compiled.error();
  const auto options = index_options();
  if (!options) return options.error();
  std::vector<SourceFact> facts =
      SourceIndex::build({{"train.py", "", *text}}, *compiled, *options).facts();
  std::erase_if(facts, [&](const SourceFact& fact) { return fact.rule_id != rule.id; });
  // From the last one up, so that the others stay where they were found.
  std::ranges::sort(facts, std::greater(), &SourceFact::first_byte);
  for (const SourceFact& fact : facts) {
    auto edits = edits_of(rule.edit, *text, {fact.first_byte, fact.last_byte});
    if (edits.empty()) continue;
    if (auto changed = apply_edits(*text, std::move(edits))) *text = std::move(*changed);
  }
  const std::string difference = unified_diff("fixed.py", *wanted, *text);
  if (difference.empty()) return ok_status();
  return Error{.message = "the fix makes something else of it:\n" + difference, .file = path};
}

}  // namespace stallscope
