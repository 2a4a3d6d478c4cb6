#include "source/match/options.h"

#include <algorithm>

#include "source/names/mentions.h"
#include "source/names/names.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {
using K = NodeKind;
}  // namespace

Option Options::needed_around(NodeId id) const {
  const uint32_t function = file_.outline.function_of[id];
  if (function == 0) return {};
  NodeId below = id;
  for (NodeId at = ast_[id].parent; at != kNoNode && ast_[at].kind != K::function;
       below = at, at = ast_[at].parent) {
    if (ast_[at].kind != K::if_ && ast_[at].kind != K::elif_) continue;
    const NodeId condition = ast_.child(at, Role::condition);
    if (condition == kNoNode || ast_[below].role == Role::condition) continue;
    const bool otherwise = ast_[below].role == Role::alternative && ast_[below].kind != K::elif_;
    const Option found = otherwise                               ? turned_off(condition, function)
                         : ast_[below].role == Role::consequence ? asked_by(condition, function)
                                                                 : Option{};
    if (found.parameter != kNone) return found;
  }
  return {};
}

/// The keywords without which no tensor is read: `for k, v in kwargs.items(): v = v.item()` of a
/// function's own **kwargs. Their literal is not asked for.
Option Options::keywords_read(NodeId id) const {
  const uint32_t function = file_.outline.function_of[id];
  const NodeId callee = ast_[id].kind == K::call ? ast_.child(id, Role::callee) : kNoNode;
  if (ast_.grammar != Grammar::python || function == 0 || callee == kNoNode) return {};
  const NodeId read = ast_[callee].kind == K::attribute ? ast_.child(callee, Role::object)
                                                        : ast_.child(id, Role::argument);
  const NodeId loop = ast_.ancestor(id, K::for_);
  if (read == kNoNode || ast_[read].kind != K::name || loop == kNoNode) return {};
  const NodeId target = ast_.child(loop, Role::left), over = ast_.child(loop, Role::right);
  if (target == kNoNode || over == kNoNode || ast_[target].kind != K::tuple ||
      callee_name(ast_, over) != "items")
    return {};
  const NodeId value = ast_[ast_[target].first_child].next;
  const NodeId dictionary = ast_.child(ast_.child(over, Role::callee), Role::object);
  if (value == kNoNode || ast_.slice(value) != ast_[read].text || dictionary == kNoNode) return {};
  const auto& parameters = facts_.functions[function].parameters;
  const auto found = std::ranges::find(parameters, "**" + std::string(ast_.slice(dictionary)));
  return found == parameters.end()
             ? Option{}
             : Option{function, static_cast<uint32_t>(found - parameters.begin()), 0};
}

/// What the other branch of `if flag:` asks for, where flag is on by default, and of `if x is
/// None:`, `if not flag:`, where it is off.
Option Options::turned_off(NodeId condition, uint32_t function) const {
  std::string_view name = ast_.slice(condition);
  if (default_of(function, name) == "True")
    return option_of(function, name, "False", ast_[condition].parent);
  constexpr std::string_view kMissing = " is None", kNot = "not ";
  if (name.ends_with(kMissing))
    name.remove_suffix(kMissing.size());
  else if (name.starts_with(kNot))
    name.remove_prefix(kNot.size());
  else
    return {};
  return wanted(name, {}, function, ast_[condition].parent);
}

/// What gives a parameter that nothing in the function sets but the branch `asking` for it.
Option Options::option_of(uint32_t function, std::string_view parameter, std::string_view literal,
                          NodeId asking) const {
  const auto& parameters = facts_.functions[function].parameters;
  const auto found = std::ranges::find(parameters, parameter);
  if (found == parameters.end()) return {};
  // `if mask is not None: mask = mask.unsqueeze(1)`: only where it is given already.
  NodeId set =
      file_.inference.definition(function, parameter, ast_[file_.outline.functions[function]].end);
  if (set != kNoNode && ast_.inside(set, asking) && file_.outline.loop_of[asking] == kNone)
    set = file_.inference.definition(function, parameter, asking);
  if (set != kNoNode) return {};
  return {function, static_cast<uint32_t>(found - parameters.begin()),
          literal.empty() ? 0 : literal_hash(literal)};
}

/// What `if flag:`, `if x is not None:`, `if mode == "slow":` and the same of self.flag ask for; of
/// C++ `if (flag)` and `if (!flag)`.
Option Options::asked_by(NodeId condition, uint32_t function) const {
  std::string_view name = ast_.slice(condition);
  if (ast_.grammar == Grammar::cuda) {  // its default may stand where the function is declared
    if (name.starts_with('(') && name.ends_with(')')) name = name.substr(1, name.size() - 2);
    const bool negated = name.starts_with('!');
    if (negated) name.remove_prefix(1);
    return option_of(function, name, negated ? "false" : "", ast_[condition].parent);
  }
  std::string_view literal;
  constexpr std::string_view kGiven = " is not None";
  if (const NodeId what = asked_to_exist(ast_, condition); what != kNoNode) {
    name = ast_.slice(what);
  } else if (name.ends_with(kGiven)) {
    name.remove_suffix(kGiven.size());
  } else if (ast_[condition].kind == K::compare && ast_[condition].text == "==") {
    const NodeId left = ast_.child(condition, Role::left);
    const NodeId right = ast_.child(condition, Role::right);
    if (left == kNoNode || right == kNoNode ||
        (ast_[right].kind != K::string && ast_[right].kind != K::number))
      return {};
    name = ast_.slice(left);
    literal = ast_.slice(right);
  }
  return wanted(name, literal, function, ast_[condition].parent);
}

/// The option that `name`, a parameter of `function` or what its object keeps of one, stands for,
/// if it is off by default, or something else than `literal`.
Option Options::wanted(std::string_view name, std::string_view literal, uint32_t function,
                       NodeId asking) const {
  constexpr std::string_view kSelf = "self.";
  if (name.starts_with(kSelf)) {
    function = constructor_of(function);
    name.remove_prefix(kSelf.size());
    if (function == kNone || !keeps_argument(function, name)) return {};
  }
  return is_off_by_default(function, name, literal) ? option_of(function, name, literal, asking)
                                                    : Option{};
}

/// The __init__ of the class around a method, or kNone.
uint32_t Options::constructor_of(uint32_t method) const {
  const uint32_t klass = file_.outline.class_of[method];
  for (uint32_t f = 1; klass != kNone && f < facts_.functions.size(); ++f) {
    if (file_.outline.class_of[f] == klass && facts_.functions[f].name == "__init__") return f;
  }
  return kNone;
}

/// Whether a constructor says `self.flag = flag`, and nothing else of the class sets it.
bool Options::keeps_argument(uint32_t constructor, std::string_view name) const {
  const auto [known, added] = kept_.try_emplace({constructor, name}, false);
  if (!added) return known->second;
  const NodeId klass = file_.outline.classes[file_.outline.class_of[constructor]];
  bool kept = false;
  for (NodeId at = klass; at < ast_[klass].end; ++at) {
    const NodeId left = ast_[at].kind == K::assign ? ast_.child(at, Role::left) : kNoNode;
    if (left == kNoNode || ast_[left].kind != K::attribute || ast_[left].text != name) continue;
    const NodeId right = ast_.child(at, Role::right);
    if (kept || right == kNoNode || ast_.slice(right) != name ||
        file_.outline.function_of[at] != constructor)
      return false;
    kept = true;
  }
  return known->second = kept;
}

/// def f(x, longest=None, check=False, mode="fast"): whether a parameter is off where it is left
/// out, or something else than `literal`.
bool Options::is_off_by_default(uint32_t function, std::string_view parameter,
                                std::string_view literal) const {
  const std::string_view value = default_of(function, parameter);
  if (value.empty()) return !literal.empty();
  return literal.empty() ? is_one_of(value, {"None", "False", "0"})
                         : literal_hash(value) != literal_hash(literal);
}

/// How the default of a parameter is written; empty where it has none.
std::string_view Options::default_of(uint32_t function, std::string_view parameter) const {
  const NodeId all = ast_.child(file_.outline.functions[function], Role::parameters);
  if (all == kNoNode) return {};
  for (NodeId p : children(ast_, all)) {
    if (ast_[p].text != parameter) continue;
    const NodeId value = ast_.child(p, Role::value);
    return value == kNoNode ? std::string_view() : ast_.slice(value);
  }
  return {};
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
