// Runs a rule's cases of source code, for `rules test`.
#pragma once

#include <map>
#include <span>
#include <string>

#include "rule/cases.h"
#include "source/clang/layer.h"

namespace stallscope {

/// What libclang says about the C++ cases of rules, which are read at once.
class CaseTypes {
 public:
  /// `libclang`: "auto" (or empty), "off" or a path.
  CaseTypes(std::span<const Rule> tested, const std::string& libclang);

  /// Null when the case was read by structure alone.
  const ClangTypes* of(const std::string& path) const;
  /// Why types are missing; empty when they are not.
  const std::string& note() const { return layer_.note; }

 private:
  ClangLayer layer_;
  std::map<std::string, size_t> by_path_;
};

/// Lints one case file under all `rules`. `# expect: ID` (`// expect:`) behind
/// code marks a line on which rule ID must fire. C++ is read by structure, and with types where
/// there are any: `expect with types: ID` and `expect without types: ID` mark where they differ.
CaseResult run_source_case(std::span<const Rule> rules, const Rule& rule, const RuleCase& rule_case,
                           const CaseTypes& types);

}  // namespace stallscope
