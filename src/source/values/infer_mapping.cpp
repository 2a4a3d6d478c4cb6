// Inference over mappings: what a dictionary holds under a key that the code spells out.
#include <algorithm>
#include <string>

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

}  // namespace

/// `losses["ce"]`, of a variable of this function: under which name its value is kept; empty if it
/// is something else.
std::string Inference::entry_name(NodeId subscript) const {
  const NodeId object = ast_.child(subscript, Role::object);
  const NodeId index = ast_.child(subscript, Role::index);
  if (ast_.grammar != Grammar::python || object == kNoNode || ast_[object].kind != K::name)
    return {};
  const std::string_view key = key_of(ast_, index);
  return key.empty() ? std::string() : std::string(ast_[object].text) + "[" + std::string(key);
}

/// losses["ce"] = value
void Inference::keep_entry(NodeId subscript, const Value& value) {
  std::string name = entry_name(subscript);
  if (name.empty()) return;
  Scope& scope = scopes_[function_];
  const size_t whole = scope.bound[ast_[ast_.child(subscript, Role::object)].text];
  scope.entries[std::move(name)] = {value, whole};
}

/// losses = {"ce": a, "kl": b}, losses = dict(ce=a, kl=b)
void Inference::keep_entries(NodeId target, NodeId source) {
  if (source == kNoNode || ast_.grammar != Grammar::python) return;
  const bool call =
      ast_[source].kind == K::call && is_one_of(callee_name(ast_, source), {"dict", "update"});
  if (!call && ast_[source].kind != K::dict) return;
  Scope& scope = scopes_[function_];
  const size_t whole = scope.bound[ast_[target].text];
  for (const NodeId part : children(ast_, source)) {
    if (ast_[part].kind != (call ? K::keyword : K::pair)) continue;
    const std::string_view key = call ? ast_[part].text : key_of(ast_, ast_[part].first_child);
    const NodeId value = ast_.child(part, Role::value);
    if (key.empty() || value == kNoNode) continue;
    scope.entries[std::string(ast_[target].text) + "[" + std::string(key)] = {values_[value],
                                                                              whole};
  }
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
  const bool call = ast_[value].kind == K::call && callee_name(ast_, value) == "dict";
  if (call || ast_[value].kind == K::dict) {
    for (const NodeId part : children(ast_, value)) {
      const bool keeps = ast_[part].kind == (call ? K::keyword : K::pair);
      const NodeId given = keeps ? ast_.child(part, Role::value) : kNoNode;
      const std::string_view key = given == kNoNode ? std::string_view()
                                   : call           ? ast_[part].text
                                                    : key_of(ast_, ast_[part].first_child);
      if (!key.empty()) add(key, values_[given]);
    }
  } else if (ast_[value].kind == K::name) {
    const Scope& scope = scopes_[function_];
    const auto whole = scope.bound.find(ast_[value].text);
    const std::string start = std::string(ast_[value].text) + "[";
    for (auto at = scope.entries.lower_bound(start);
         at != scope.entries.end() && at->first.starts_with(start); ++at) {
      if (whole != scope.bound.end() && whole->second == at->second.whole)
        add(std::string_view(at->first).substr(start.size()), at->second.value);
    }
  }
}

/// info["loss"] of info = agent.update(batch): what that holds under the key.
uint32_t Inference::entry_of_given(NodeId subscript) {
  const NodeId object = ast_.child(subscript, Role::object);
  const NodeId index = ast_.child(subscript, Role::index);
  if (object == kNoNode || index == kNoNode || !is_given(values_[object])) return 0;
  const uint32_t whole = values_[object].dependency;
  const std::string_view key = key_of(ast_, index);
  if (!key.empty()) return depend(DependencyKind::entry, std::string(key), whole, 0);
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
         (from->kind == DependencyKind::returns || from->kind == DependencyKind::method ||
          from->kind == DependencyKind::part);
}

/// info.items(), info.values() and info.get("loss") of info = agent.update(batch)
Value Inference::values_of_given(const Value& mapping, NodeId call) {
  if (!is_given(mapping)) return {};
  const std::string_view method = callee_name(ast_, call);
  const bool all = method == "items" || method == "values";
  const std::string_view key =
      method == "get" ? key_of(ast_, ast_.child(call, Role::argument)) : "";
  if (!all && key.empty()) return {};
  return depending_on(
      depend(DependencyKind::entry, all ? "*" : std::string(key), mapping.dependency, 0));
}

/// out.update(loss=loss), out.update({"loss": loss})
void Inference::update_entries(NodeId mapping, NodeId call) {
  if (mapping == kNoNode || ast_[mapping].kind != K::name) return;
  const NodeId first = ast_.child(call, Role::argument);
  keep_entries(mapping, first != kNoNode && ast_[first].kind == K::dict ? first : call);
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
  const Scope& scope = scopes_[function_];
  if (scope.entries.empty()) return nullptr;
  const std::string name = entry_name(subscript);
  const auto found = name.empty() ? scope.entries.end() : scope.entries.find(name);
  if (found == scope.entries.end()) return nullptr;
  const auto whole = scope.bound.find(ast_[ast_.child(subscript, Role::object)].text);
  const size_t now = whole == scope.bound.end() ? 0 : whole->second;
  return now == found->second.whole ? &found->second.value : nullptr;
}

}  // namespace stallscope
