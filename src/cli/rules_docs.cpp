#include "cli/rules_docs.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "cli/rules_text.h"

namespace stallscope {
namespace {

std::string fenced(std::string_view code, const Rule& rule) {
  const bool python = rule.languages.empty() || rule.languages.front() == Language::python;
  std::string out = python ? "```python\n" : "```cpp\n";
  out += code;
  if (!code.ends_with('\n')) out += '\n';
  return out + "```\n";
}

std::string_view severity_of_rule(const Rule& rule) {
  return rule.advice ? "advice" : to_string(rule.severity);
}

std::string edit_sentence(const Rule& rule) {
  if (rule.edit.kind == EditKind::none) return {};
  return "\n`stallscope lint --fix` makes this change where it can be seen to be safe.\n";
}

}  // namespace

std::string rule_markdown(const Rule& rule) {
  std::string out = fmt::format("# {}\n\n**{}**\n\n", rule.id, rule.title);
  out += fmt::format("Severity {}; {}.\n\n{}", worst_of(rule), languages_of(rule), rule.why);
  if (!rule.fix.before.empty())
    out += fmt::format("\nInstead of\n\n{}\nwrite\n\n{}", fenced(rule.fix.before, rule),
                       fenced(rule.fix.after, rule));
  out += edit_sentence(rule);
  if (rule.gain != GainModel::none)
    out +=
        fmt::format("\nIn a run, what it saves is found by replaying the step without it (`{}`).\n",
                    to_string(rule.gain));
  if (!rule.references.empty()) {
    out += "\nSee also\n\n";
    for (const std::string& reference : rule.references) out += "- " + reference + "\n";
  }
  return out +
         fmt::format("\nTo accept one: `stallscope: ignore[{}] reason` in a comment.\n", rule.id);
}

Status write_rule_docs(std::span<const Rule> rules, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error{.message = "cannot make the folder: " + error.message(), .file = folder};
  std::string index =
      "# Rules\n\n| rule | severity | languages | what to do |\n|---|---|---|---|\n";
  for (const Rule& rule : rules) {
    index += fmt::format("| [{}]({}.md) | {} | {} | {} |\n", rule.id, rule.id,
                         severity_of_rule(rule), languages_of(rule), rule.title);
    if (auto written = write_file(folder + "/" + rule.id + ".md", rule_markdown(rule)); !written)
      return written;
  }
  return write_file(folder + "/index.md", index);
}

}  // namespace stallscope
