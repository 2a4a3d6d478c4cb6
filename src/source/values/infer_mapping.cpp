// Inference over mappings: what a dictionary holds under a key that the code spells out.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "source/names/mentions.h"
#include "source/syntax/words.h"
#include "source/values/infer.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// loss of "loss" and 'loss'; empty for what is put together or too long for a key.
std::string_view key_of(const Ast& ast, NodeId string) {
  constexpr size_t kLongest = 64;
  if (string == kNoNode || ast[string].kind != K::string) return {};
  const std::string_view quoted = ast.slice(string);
  if (quoted.size() < 3 || quoted.size() > kLongest || (quoted[0] != '"' && quoted[0] != '\'') ||
      quoted.back() != quoted[0])
    return {};
  return quoted.substr(1, quoted.size() - 2);
}

/// Whether {"ce": a} or dict(ce=a) makes a mapping there.
bool makes_mapping(const Ast& ast, NodeId source) {
  return ast[source].kind == K::dict ||
         (ast[source].kind == K::call && callee_name(ast, source) == "dict");
}

/// What {"ce": a} and dict(ce=a), out.update(ce=a) name, in order.
std::vector<std::pair<std::string_view, NodeId>> named_values(const Ast& ast, NodeId source) {
  std::vector<std::pair<std::string_view, NodeId>> out;
  for (const NodeId part : children(ast, source)) {
    const std::string_view key = ast[part].kind == K::keyword ? ast[part].text
                                 : ast[part].kind == K::pair  ? key_of(ast, ast[part].first_child)
                                                              : std::string_view();
    const NodeId value = ast.child(part, Role::value);
    if (!key.empty() && value != kNoNode) out.emplace_back(key, value);
  }
  return out;
}

/// Under which name the value of an entry is kept.
std::string entry_name(std::string_view mapping, std::string_view key) {
  return std::string(mapping) + "[" + std::string(key);
}

}  // namespace

/// The binding of a name that holds at this place; 0 before the first.
size_t Inference::binding_of(std::string_view name) const {
  const auto found = scopes_[function_].bound.find(name);
  return found == scopes_[function_].bound.end() ? 0 : found->second;
}

/// `losses["ce"]`, of a variable of this function: the variable and the key; empty if it is
/// something else.
std::pair<std::string_view, std::string_view> Inference::entry_at(NodeId subscript) const {
  const NodeId object = ast_.child(subscript, Role::object);
  if (ast_.grammar != Grammar::python || object == kNoNode || ast_[object].kind != K::name)
    return {};
  return {ast_[object].text, key_of(ast_, ast_.child(subscript, Role::index))};
}

/// losses["ce"] = value
void Inference::keep_entry(NodeId subscript, const Value& value) {
  const auto [mapping, key] = entry_at(subscript);
  if (!key.empty())
    scopes_[function_].entries[entry_name(mapping, key)] = {value, binding_of(mapping)};
}

/// losses = {"ce": a, "kl": b}, losses = dict(ce=a, kl=b)
void Inference::keep_entries(NodeId target, NodeId source) {
  if (source != kNoNode && ast_.grammar == Grammar::python && makes_mapping(ast_, source))
    add_entries(target, source);
}

/// out.update(loss=loss), out.update({"loss": loss})
void Inference::update_entries(NodeId mapping, NodeId call) {
  if (mapping == kNoNode || ast_[mapping].kind != K::name || ast_.grammar != Grammar::python)
    return;
  const NodeId first = ast_.child(call, Role::argument);
  add_entries(mapping, first != kNoNode && ast_[first].kind == K::dict ? first : call);
}

void Inference::add_entries(NodeId mapping, NodeId source) {
  const std::string_view name = ast_[mapping].text;
  for (const auto& [key, value] : named_values(ast_, source))
    scopes_[function_].entries[entry_name(name, key)] = {values_[value], binding_of(name)};
}

/// return {"loss": loss, "seen": n}, and a variable that holds such: what each of them is, for
/// those who take them out.
void Inference::return_entries(NodeId value) {
  if (ast_.grammar != Grammar::python) return;
  std::vector<std::pair<uint32_t, Value>>& entries = facts_.functions[function_].entries;
  const auto add = [&](std::string_view key, const Value& given) {
    const uint32_t hash = name_hash(key);
    const auto at = std::ranges::lower_bound(entries, hash, {}, &std::pair<uint32_t, Value>::first);
    if (at != entries.end() && at->first == hash)
      at->second = of_both(at->second, given, merge(at->second, given));
    else
      entries.insert(at, {hash, given});
  };
  if (makes_mapping(ast_, value)) {
    for (const auto& [key, given] : named_values(ast_, value)) add(key, values_[given]);
  } else if (ast_[value].kind == K::name) {
    const Scope& scope = scopes_[function_];
    const std::string start = entry_name(ast_[value].text, {});
    const size_t whole = binding_of(ast_[value].text);
    for (auto at = scope.entries.lower_bound(start);
         at != scope.entries.end() && at->first.starts_with(start); ++at) {
      if (at->second.whole == whole)
        add(std::string_view(at->first).substr(start.size()), at->second.value);
    }
  }
}

/// info["loss"] of info = agent.update(batch): what that holds under the key.
uint32_t Inference::entry_of_given(NodeId subscript) {
  const NodeId object = ast_.child(subscript, Role::object);
  const NodeId index = ast_.child(subscript, Role::index);
  if (object == kNoNode || index == kNoNode || !may_hold_entries(values_[object])) return 0;
  const uint32_t whole = values_[object].dependency;
  const std::string_view key = key_of(ast_, index);
  if (!key.empty()) return depend(DependencyKind::entry, std::string(key), whole, 0);
  // metrics[self.key], info["q"][0] of what a compiled step may have given
  const bool by_attribute = ast_[index].kind == K::attribute;
  const bool of_entry =
      ast_[index].kind == K::number && dependency(values_[object])->kind == DependencyKind::entry;
  if ((by_attribute || of_entry) && (names_.uses_jax() || !names_.uses("torch")))
    return by_attribute ? depend(DependencyKind::entry, "*", whole, 0)
                        : depend(DependencyKind::element, {}, whole, 0);
  if (!is_given(values_[object])) return 0;
  // out[0] of out = step(x)
  const std::string_view position = ast_.slice(index);
  const bool counts = ast_[index].kind == K::number && position.size() == 1 &&
                      dependency(values_[object])->kind != DependencyKind::part;
  return counts ? depend(DependencyKind::part, {}, whole, static_cast<uint32_t>(position[0] - '0'))
                : 0;
}

/// Whether a value is what a function or a method of the program gives.
bool Inference::is_given(const Value& value) const {
  const Dependency* from = dependency(value);
  return from && value.kind == Kind::unknown && ast_.grammar == Grammar::python &&
         (from->by_call() || from->kind == DependencyKind::part);
}

/// Whether a value is that, or what callers hand in, or one of many that they do:
/// log_losses(writer, {"loss": loss}), for batch in loader.
bool Inference::may_hold_entries(const Value& value) const {
  const Dependency* from = dependency(value);
  return is_given(value) ||
         (from &&
          (from->kind == DependencyKind::parameter || from->kind == DependencyKind::element ||
           (from->kind == DependencyKind::entry && !names_.uses("torch"))) &&
          value.kind == Kind::unknown && ast_.grammar == Grammar::python);
}

/// info.items(), info.values() and info.get("loss") of info = agent.update(batch)
Value Inference::values_of_given(const Value& mapping, NodeId call) {
  if (!may_hold_entries(mapping)) return {};
  const std::string_view method = callee_name(ast_, call);
  const bool all = method == "items" || method == "values";
  const std::string_view key =
      method == "get" ? key_of(ast_, ast_.child(call, Role::argument)) : "";
  if (!all && key.empty()) return {};
  return depending_on(
      depend(DependencyKind::entry, all ? "*" : std::string(key), mapping.dependency, 0));
}

/// dict(ce=loss, kl=distance)
bool Inference::names_tensors(NodeId call) const {
  bool any = false;
  for (const NodeId part : children(ast_, call)) {
    if (ast_[part].role != Role::argument) continue;
    const NodeId value = ast_[part].kind == K::keyword ? ast_.child(part, Role::value) : kNoNode;
    if (value == kNoNode || !values_[value].is_device()) return false;
    any = true;
  }
  return any;
}

/// What this function put under the key, as far as the mapping is still the one it was put in.
const Value* Inference::kept_entry(NodeId subscript) const {
  const auto& entries = scopes_[function_].entries;
  if (entries.empty()) return nullptr;
  const auto [mapping, key] = entry_at(subscript);
  const auto found = key.empty() ? entries.end() : entries.find(entry_name(mapping, key));
  return found != entries.end() && found->second.whole == binding_of(mapping) ? &found->second.value
                                                                              : nullptr;
}

}  // namespace stallscope
