#include "rule/known_rules.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/suggest.h"

namespace stallscope {

bool is_known_rule(const std::string& id, std::span<const Rule> rules) {
  return std::ranges::find(rules, id, &Rule::id) != rules.end();
}

std::string unknown_rule(const std::string& id, std::span<const Rule> rules) {
  std::vector<std::string_view> ids;
  for (const Rule& rule : rules) ids.push_back(rule.id);
  return "there is no rule '" + id + "'" + suggestion(id, ids);
}

Status expect_known_rules(const Config& config, std::span<const Rule> rules) {
  for (const NamedRule& named : config.named_rules) {
    if (is_known_rule(named.id, rules)) continue;
    return Error{.message = unknown_rule(named.id, rules),
                 .file = named.file,
                 .line = named.line,
                 .column = named.column,
                 .remedy = "`stallscope rules list` shows them all."};
  }
  return ok_status();
}

}  // namespace stallscope
