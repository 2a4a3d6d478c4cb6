#include "rule/parse_trace_condition.h"

#include <algorithm>
#include <array>

#include "rule/yaml_reader.h"

namespace stallscope {
namespace {

constexpr std::array<std::string_view, 2> kTraceKeys = {"observe", "where"};

// Fields that a `where:` on this kind may name.
std::vector<std::string_view> fields_of(const ObservationKind& kind) {
  std::vector<std::string_view> names;
  for (const auto& [name, meaning] : kind.fields) names.push_back(name);
  return names;
}

class ConditionReader {
 public:
  ConditionReader(const std::string& file, const ObservationKind& kind)
      : file_(file), kind_(kind.name), fields_(fields_of(kind)) {}

  Condition all_of(const YamlNode& map, std::string_view what) {
    if (!map.is_map())
      yaml_fail(file_, map, std::string(what) + " must be a map of fields to comparisons");
    Condition condition = at(map, Condition::Kind::all);
    for (const YamlEntry& entry : map.entries())
      condition.children.push_back(entry_of(entry.key, entry.value));
    return condition;
  }

 private:
  static Condition at(const YamlNode& node, Condition::Kind kind) {
    Condition condition;
    condition.kind = kind;
    condition.line = static_cast<uint32_t>(node.line());
    condition.column = static_cast<uint32_t>(node.column());
    return condition;
  }

  Condition entry_of(const YamlNode& key, const YamlNode& value) {
    const std::string& name = key.text();
    if (name == "any") return group(value, Condition::Kind::any, "any");
    if (name == "all") return group(value, Condition::Kind::all, "all");
    if (name == "not") return group(value, Condition::Kind::none, "not");
    if (std::ranges::find(fields_, name) == fields_.end())
      yaml_unknown(file_, key, "field of " + kind_, name, fields_);
    Condition condition = at(key, Condition::Kind::field);
    condition.field = name;
    condition.comparison = parse_comparison_node(value, file_);
    return condition;
  }

  Condition group(const YamlNode& value, Condition::Kind kind, std::string_view name) {
    Condition condition = at(value, kind);
    if (value.is_map() && kind == Condition::Kind::none) {
      condition.children.push_back(all_of(value, name));
      return condition;
    }
    if (!value.is_list() || value.items().empty())
      yaml_fail(file_, value, "'" + std::string(name) + "' must be a list of conditions");
    for (const YamlNode& item : value.items())
      condition.children.push_back(all_of(item, "an item of '" + std::string(name) + "'"));
    return condition;
  }

  const std::string& file_;
  std::string kind_;
  std::vector<std::string_view> fields_;
};

TraceCondition one_condition(const YamlNode& node, const std::string& file) {
  expect_keys(file, node, "trace", kTraceKeys);
  const YamlNode observe = node["observe"];
  if (!observe) yaml_fail(file, node, "key 'observe' is missing");
  const std::string name = yaml_text(file, observe, "observe");
  const auto& kinds = observation_kinds();
  const auto kind = std::ranges::find(kinds, name, &ObservationKind::name);
  if (kind == kinds.end()) {
    std::vector<std::string_view> known;
    for (const ObservationKind& k : kinds) known.push_back(k.name);
    yaml_unknown(file, observe, "kind of observation", name, known);
  }
  TraceCondition condition{.kind = name, .where = {}};
  if (node["where"]) condition.where = ConditionReader(file, *kind).all_of(node["where"], "where");
  return condition;
}

}  // namespace

Comparison parse_comparison_node(const YamlNode& node, const std::string& file) {
  if (node.is_list()) {
    std::string list;
    for (const std::string& item : yaml_texts(file, node, "a list to compare with"))
      list += (list.empty() ? "" : ", ") + item;
    auto parsed = parse_comparison("in [" + list + "]");
    if (!parsed) yaml_fail(file, node, parsed.error().message, parsed.error().remedy);
    return *parsed;
  }
  auto parsed = parse_comparison(yaml_text(file, node, "a comparison"));
  if (!parsed) yaml_fail(file, node, parsed.error().message, parsed.error().remedy);
  return *parsed;
}

std::vector<TraceCondition> parse_trace_conditions(const YamlNode& node, const std::string& file) {
  std::vector<TraceCondition> conditions;
  if (node.is_list()) {
    if (node.items().empty()) yaml_fail(file, node, "trace is an empty list");
    for (const YamlNode& item : node.items()) conditions.push_back(one_condition(item, file));
  } else {
    conditions.push_back(one_condition(node, file));
  }
  return conditions;
}

}  // namespace stallscope
