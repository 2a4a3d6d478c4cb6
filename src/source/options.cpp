#include "source/options.h"

#include <algorithm>

#include "source/names.h"

namespace stallscope {
namespace {
using K = NodeKind;
}  // namespace

uint32_t Options::needed_around(NodeId id) const {
  const uint32_t function = file_.outline.function_of[id];
  if (ast_.grammar != Grammar::python || function == 0) return kNone;
  NodeId below = id;
  for (NodeId at = ast_[id].parent; at != kNoNode && ast_[at].kind != K::function;
       below = at, at = ast_[at].parent) {
    if (ast_[at].kind != K::if_ || ast_[below].role != Role::consequence) continue;
    const NodeId condition = ast_.child(at, Role::condition);
    if (condition == kNoNode) continue;
    std::string_view name = ast_.slice(condition);
    constexpr std::string_view kGiven = " is not None";
    if (name.ends_with(kGiven)) name.remove_suffix(kGiven.size());
    const auto& parameters = facts_.functions[function].parameters;
    const auto found = std::ranges::find(parameters, name);
    if (found != parameters.end() && is_off_by_default(function, name) &&
        file_.inference.definition(function, name, id) == kNoNode)
      return static_cast<uint32_t>(found - parameters.begin());
  }
  return kNone;
}

/// def f(x, longest=None, check=False)
bool Options::is_off_by_default(uint32_t function, std::string_view parameter) const {
  const NodeId all = ast_.child(file_.outline.functions[function], Role::parameters);
  if (all == kNoNode) return false;
  for (NodeId p : children(ast_, all)) {
    const NodeId value = ast_[p].text == parameter ? ast_.child(p, Role::value) : kNoNode;
    if (value != kNoNode) return ast_.slice(value) == "None" || ast_.slice(value) == "False";
  }
  return false;
}

uint32_t Options::defaulted_around(NodeId id) const {
  const auto& parameters = facts_.functions[file_.outline.function_of[id]].parameters;
  NodeId below = id;
  for (NodeId at = ast_[id].parent; at != kNoNode && ast_[at].kind != K::function;
       below = at, at = ast_[at].parent) {
    if (ast_[at].kind != K::if_ && ast_[at].kind != K::conditional) continue;
    const NodeId condition = ast_.child(at, Role::condition);
    const NodeId left = condition == kNoNode || ast_[condition].kind != K::compare
                            ? kNoNode
                            : ast_[condition].first_child;
    // `n if n is not None else ...`
    const bool otherwise = ast_[at].kind == K::conditional && ast_[below].role == Role::alternative;
    if (left == kNoNode || ast_[left].kind != K::name ||
        !ast_.slice(condition).ends_with(otherwise ? " is not None" : " is None"))
      continue;
    const auto found = std::ranges::find(parameters, ast_[left].text);
    if (found != parameters.end()) return static_cast<uint32_t>(found - parameters.begin());
  }
  return kNone;
}

uint32_t Options::defaulted_bound(NodeId id) const {
  const uint32_t function = file_.outline.function_of[id];
  const auto& parameters = facts_.functions[function].parameters;
  for (NodeId at = id; at < ast_[id].end; ++at) {
    if (ast_[at].kind != K::name || ast_[at].role == Role::object) continue;
    const auto found = std::ranges::find(parameters, ast_[at].text);
    const NodeId made = found == parameters.end()
                            ? kNoNode
                            : file_.inference.definition(function, ast_[at].text, id);
    const NodeId test = made == kNoNode ? kNoNode : ast_.ancestor(made, K::if_);
    const NodeId condition = test == kNoNode ? kNoNode : ast_.child(test, Role::condition);
    if (condition != kNoNode && ast_.slice(condition) == std::string(ast_[at].text) + " is None")
      return static_cast<uint32_t>(found - parameters.begin());
  }
  return kNone;
}

}  // namespace stallscope
