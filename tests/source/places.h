// Where a rule set finds something in a few files, in one line that a test can compare.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "source/index.h"

namespace stallscope {

/// `parts`, sorted and joined by blanks.
inline std::string sorted_in_line(std::vector<std::string> parts) {
  std::ranges::sort(parts);
  return fmt::format("{}", fmt::join(parts, " "));
}

/// "file:line" of each fact, sorted and joined by blanks.
inline std::string places(const RuleSet& rules, const std::vector<SourceInput>& files) {
  std::vector<std::string> out;
  const SourceIndex index = SourceIndex::build(files, rules, {});
  for (const SourceFact& fact : index.facts())
    out.push_back(fact.file + ":" + std::to_string(fact.first_line));
  return sorted_in_line(std::move(out));
}

}  // namespace stallscope
