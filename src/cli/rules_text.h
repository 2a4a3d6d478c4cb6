// What `stallscope rules` prints.
#pragma once

#include <span>
#include <string>

#include "rule/cases.h"
#include "rule/rule.h"

namespace stallscope {

/// The languages that a rule is for: "python, cpp".
std::string languages_of(const Rule& rule);
/// "high at worst, low where no run measured it"
std::string worst_of(const Rule& rule);
/// One line per rule.
std::string rules_table(std::span<const Rule> rules);
/// {"rules": [{id, title, severity, ...}]}
std::string rules_json(std::span<const Rule> rules);
/// Everything a rule file says, for reading.
std::string rule_page(const Rule& rule);

/// The kinds of observation and their fields.
std::string kinds_table();
std::string kinds_json();

struct CaseReport {
  std::string text;
  bool ok = true;
};
/// Runs the cases of `tested` under all `rules`; names every missing and noisy line.
CaseReport case_report(std::span<const Rule> rules, std::span<const Rule> tested,
                       const SourceCaseRunner& run_source);

}  // namespace stallscope
