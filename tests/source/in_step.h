// Where a project reads tensors in its steps, in one line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "source/index.h"
#include "source/item_rule.h"
#include "source/places.h"

namespace stallscope {

/// "file:line" of each call of .item() that runs in a step, sorted and joined by blanks. Lines
/// count from the line below `import torch`, which each file gets.
inline std::string in_step(const std::vector<std::pair<std::string, std::string>>& files) {
  const RuleSet rules = item_rule({"step"});
  std::vector<SourceInput> inputs;
  for (const auto& [path, text] : files) inputs.push_back({path, "", "import torch\n" + text});
  std::vector<std::string> out;
  const SourceIndex index = SourceIndex::build(inputs, rules, {});
  for (const SourceFact& fact : index.facts()) {
    if (fact.context == "step")
      out.push_back(fact.file + ":" + std::to_string(fact.first_line - 1));
  }
  return sorted_in_line(std::move(out));
}

}  // namespace stallscope
