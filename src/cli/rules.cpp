// `stallscope rules`: what the rules are, what they can say, and whether their cases hold.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "cli/fix_case.h"
#include "cli/rules_docs.h"
#include "cli/rules_text.h"
#include "cli/source_case.h"
#include "rule/cases.h"
#include "rule/load.h"
#include "rule/scaffold.h"

namespace stallscope {
namespace {

struct Options {
  std::vector<std::string> folders;  ///< --rules, beside the bundled ones
  std::string format = "text";
  std::string id;
  std::string test_folder;
  std::string new_folder = ".";
  std::string docs_folder;
  std::string libclang = "auto";
};

int list(const Options& options) {
  const auto rules = load_bundled_rules(options.folders);
  if (!rules) return fail(rules.error());
  if (options.format == "json")
    std::cout << rules_json(*rules);
  else
    std::cout << rules_table(*rules);
  return kExitClean;
}

int explain(const Options& options) {
  const auto rules = load_bundled_rules(options.folders);
  if (!rules) return fail(rules.error());
  std::vector<std::string_view> known;
  for (const Rule& rule : *rules) {
    if (rule.id == options.id) {
      std::cout << rule_page(rule);
      return kExitClean;
    }
    known.push_back(rule.id);
  }
  return fail({.message = "there is no rule '" + options.id + "'" + suggestion(options.id, known),
               .remedy = "`stallscope rules list` names all rules."});
}

int kinds(const Options& options) {
  std::cout << (options.format == "json" ? kinds_json() : kinds_table());
  return kExitClean;
}

// Rules of the folder alone are tested, under the bundled ones beside them.
int test(const Options& options) {
  std::vector<std::string> folders = options.folders;
  if (!options.test_folder.empty()) folders.push_back(options.test_folder);
  const auto rules = load_bundled_rules(folders);
  if (!rules) return fail(rules.error());
  std::vector<Rule> tested;
  for (const Rule& rule : *rules) {
    const std::string folder = std::filesystem::path(rule.file).parent_path().string();
    if (options.test_folder.empty() || std::filesystem::weakly_canonical(folder) ==
                                           std::filesystem::weakly_canonical(options.test_folder))
      tested.push_back(rule);
  }
  const CaseTypes types(tested, options.libclang);
  const CaseReport report = case_report(
      *rules, tested, [&](std::span<const Rule> all, const Rule& rule, const RuleCase& rule_case) {
        return run_source_case(all, rule, rule_case, types);
      });
  std::cout << report.text;
  if (!types.note().empty()) std::cout << types.note() << "\n";
  bool ok = report.ok;
  for (const Rule& rule : tested) {
    if (rule.edit.kind == EditKind::none) continue;
    const auto fixed = run_fix_case(*rules, rule);
    if (!fixed) std::cout << "failed  " << rule.id << ": " << fixed.error().to_string() << "\n";
    ok &= fixed.ok();
  }
  return ok ? kExitClean : kExitFindings;
}

int create(const Options& options) {
  const auto written = scaffold_rule(options.id, options.new_folder);
  if (!written) return fail(written.error());
  for (const std::string& file : *written) std::cout << file << "\n";
  if (const auto bundled = load_bundled_rules();
      bundled && std::ranges::find(*bundled, options.id, &Rule::id) != bundled->end())
    print_message("'" + options.id +
                  "' is a bundled rule: with --rules this one takes its place, also in source");
  std::cerr << "Fill in the files, then run: stallscope rules test " << options.new_folder << "\n";
  return kExitClean;
}

int docs(const Options& options) {
  const auto rules = load_bundled_rules(options.folders);
  if (!rules) return fail(rules.error());
  const auto written = write_rule_docs(*rules, options.docs_folder);
  return written ? kExitClean : fail(written.error());
}

std::function<int()> setup(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  const auto chosen = std::make_shared<std::function<int(const Options&)>>();
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* summary, int (*run)(const Options&)) {
    CLI::App* sub = app.add_subcommand(name, summary);
    sub->callback([chosen, run] { *chosen = run; });
    return sub;
  };
  const auto add_folders = [&](CLI::App* sub) {
    sub->add_option("--rules", options->folders, "A further folder of rules (repeatable)")
        ->type_name("DIR")
        ->allow_extra_args(false);
  };
  const auto add_format = [&](CLI::App* sub) {
    sub->add_option("--format", options->format, "text or json")
        ->check(CLI::IsMember({"text", "json"}));
  };
  CLI::App* sub = add("list", "List all rules", list);
  add_format(sub);
  add_folders(sub);
  sub = add("explain", "Explain one rule: what it finds, why it matters, how to fix it", explain);
  sub->add_option("id", options->id, "The rule")->required();
  add_folders(sub);
  sub = add("kinds", "List what a `trace:` condition can observe, with all fields", kinds);
  add_format(sub);
  sub = add("test", "Run the cases of the bundled rules, or of the rules in DIR", test);
  sub->add_option("dir", options->test_folder, "A folder of rules")->type_name("DIR");
  sub->add_option("--libclang", options->libclang,
                  "Types of C++ cases: auto, off (structure alone is tested) or the library's path")
      ->type_name("auto|off|PATH")
      ->capture_default_str();
  add_folders(sub);
  sub = add("docs", "Write a page of documentation for each rule into DIR", docs);
  sub->add_option("dir", options->docs_folder, "The folder to write into")
      ->type_name("DIR")
      ->required();
  add_folders(sub);
  sub = add("new", "Write a new rule with cases to fill in", create);
  sub->add_option("id", options->id, "The rule's id, e.g. copy-in-loop")->required();
  sub->add_option("dir,--dir", options->new_folder, "The folder of rules (default: here)")
      ->type_name("DIR");
  return [options, chosen] { return (*chosen)(*options); };
}

const RegisterCommand kRules({
    .name = "rules",
    .summary = "List, explain, test and create rules",
    .examples = "Examples:\n"
                "  stallscope rules list\n"
                "  stallscope rules explain item-in-step\n"
                "  stallscope rules new copy-in-loop my-rules && stallscope rules test my-rules\n",
    .setup = setup,
});

}  // namespace
}  // namespace stallscope
