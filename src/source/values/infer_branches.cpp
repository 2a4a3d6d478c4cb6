// What branches do to values: what each binds, and what its condition tells.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "source/names/roles.h"
#include "source/syntax/words.h"
#include "source/values/infer.h"

namespace stallscope {
namespace {

using K = NodeKind;

bool compares_with_number(const Ast& ast, NodeId condition) {
  if (ast[condition].kind != K::compare) return false;
  for (NodeId c : children(ast, condition)) {
    if (ast[c].kind == K::number) return true;
  }
  return false;
}

/// if length is None:
bool asks_for_none(const Ast& ast, NodeId condition) {
  const NodeId left = ast[condition].first_child;
  return ast[condition].kind == K::compare && left != kNoNode && ast[left].next != kNoNode &&
         ast.slice(ast[left].next) == "None" && is_one_of(ast[condition].text, {"is", "=="});
}

/// Whether the branch ends in return, raise, continue or break.
bool leaves(const Ast& ast, NodeId branch) {
  const NodeId last = last_child(ast, branch);
  const K kind = last == kNoNode ? K::other : ast[last].kind;
  return kind == K::return_ || kind == K::raise || kind == K::leave;
}

/// Whether a statement behind `id` asks for the type of `name` too: it may be a dict of tensors.
bool is_tested_again(const Ast& ast, NodeId id, std::string_view name) {
  for (NodeId at = ast[id].end; at < ast[ast[id].parent].end; ++at) {
    if (ast[at].kind != K::call || callee_name(ast, at) != "isinstance") continue;
    const NodeId what = ast.child(at, Role::argument);
    if (what != kNoNode && ast.slice(what) == name) return true;
  }
  return false;
}

}  // namespace

/// What both branches bind holds either value afterwards; inside a branch, what it bound itself.
void Inference::run_branches(NodeId id) {
  const Alternative outer = alternative_;
  const size_t start = bindings_, replaced = replaced_.size(), rebound = rebound_.size();
  const NodeId condition = ast_.child(id, Role::condition);
  const bool alone = ast_[id].kind == K::if_ && ast_.child(id, Role::alternative) == kNoNode;
  // `if not torch.is_tensor(x): x = torch.tensor(x)`
  const NodeId negated = condition != kNoNode && ast_[condition].kind == K::unary
                             ? tested_for_tensor(ast_, ast_[condition].first_child)
                             : kNoNode;
  const NodeId tested = tested_for_tensor(ast_, condition);
  for (NodeId c : children(ast_, id)) {
    if (ast_[c].role == Role::condition) continue;
    const bool otherwise = ast_[c].role == Role::alternative;
    std::vector<Rebound> of_others;
    if (otherwise) {
      of_others = take_back(rebound, start);
      alternative_ = {start, bindings_, elsewhere_.size()};
    }
    if (otherwise && tested != kNoNode)
      run_without_tensor(c, tested, false);
    else if (!otherwise && negated != kNoNode)
      run_without_tensor(c, negated, alone);
    else if (!otherwise && ast_[c].role == Role::consequence)
      run_of_class(c, condition);
    else
      statement(c);
    if (otherwise) join_elsewhere(alternative_.elsewhere);
    give_back(of_others, leaves(ast_, c));
    alternative_ = outer;
  }
  rebound_.resize(rebound);
  if (alone) restore_replaced(id, replaced);
  replaced_.resize(replaced);
  // `if torch.is_tensor(x): return x.clamp(0, 1)`: behind it, it is none.
  const NodeId first = ast_.child(id, Role::consequence);
  if (alone && tested != kNoNode && first != kNoNode && leaves(ast_, first) &&
      !is_tested_again(ast_, id, ast_[tested].text))
    scopes_[function_].variables[ast_[tested].text] = likely(Kind::other);
}

/// In an alternative, what the branches before it bound holds what it held before them:
/// `if isinstance(x, dict): x = {...}` and `elif torch.is_tensor(x): x = x.to(device)`.
std::vector<Inference::Rebound> Inference::take_back(size_t from, size_t start) {
  constexpr size_t kMost = 256;  // more are no program's: of each alternative all are looked at
  std::vector<Rebound> out;
  if (rebound_.size() - from > kMost) return out;
  Scope& scope = scopes_[function_];
  for (size_t i = from; i < rebound_.size(); ++i) {
    const auto& [name, before] = rebound_[i];
    if (std::ranges::find(out, name, &Rebound::name) != out.end()) continue;
    size_t& bound = scope.bound[name];
    Value& value = scope.variables[name];
    out.push_back({name, value, bound});
    value = before;
    bound = start;
  }
  return out;
}

/// Behind the alternative, what it did not bind itself holds what the branches before it left.
void Inference::give_back(const std::vector<Rebound>& of_others, bool left) {
  Scope& scope = scopes_[function_];
  for (const Rebound& other : of_others) {
    Value& now = scope.variables[other.name];
    const bool own = !left && scope.bound[other.name] > alternative_.begin;
    now = own ? of_both(other.value, now, join(other.value, now)) : other.value;
    if (!own) scope.bound[other.name] = other.bound;
  }
}

/// The branch in which `name` is no tensor. Behind it, it is what it was, unless the branch bound
/// it and is not passed by.
void Inference::run_without_tensor(NodeId branch, NodeId name, bool passed_by) {
  const Value before =
      std::exchange(scopes_[function_].variables[ast_[name].text], likely(Kind::other));
  statement(branch);
  Value& after = scopes_[function_].variables[ast_[name].text];
  if (passed_by || after.kind == Kind::other) after = before;
}

/// `if isinstance(posterior, Gaussian): z = posterior.sample()`: the branch in which what nobody
/// knows is an object of that class, whose methods are meant. Behind it, it is what it was.
void Inference::run_of_class(NodeId branch, NodeId condition) {
  const NodeId what = condition != kNoNode && ast_[condition].kind == K::call &&
                              callee_name(ast_, condition) == "isinstance"
                          ? ast_.child(condition, Role::argument)
                          : kNoNode;
  const NodeId type = what == kNoNode || ast_[what].kind != K::name ? kNoNode : ast_[what].next;
  const bool one =
      type != kNoNode && (ast_[type].kind == K::name || ast_[type].kind == K::attribute);
  const std::string_view klass = one ? last_component(ast_.slice(type)) : std::string_view();
  const Dotted path = one ? names_.resolve(type) : Dotted{};
  const bool own =
      is_class_like(klass) && !(path.imported && is_library_root(first_component(path.path)));
  if (!own || values_[what].kind != Kind::unknown) return statement(branch);
  auto& variables = scopes_[function_].variables;
  const std::string_view name = ast_[what].text;
  const auto known = variables.find(name);
  const bool bound = known != variables.end();
  const Value before = bound ? known->second : Value{};
  Value narrowed = values_[what];
  narrowed.dependency = depend(DependencyKind::instance, std::string(klass));
  variables[name] = narrowed;
  statement(branch);
  const Value after = variables[name];
  if (after.kind != Kind::unknown || after.dependency != narrowed.dependency) return;
  if (bound)
    variables[name] = before;
  else
    variables.erase(name);
}

/// Behind an alternative, what it bound may also hold what the branches before it left.
void Inference::join_elsewhere(size_t from) {
  for (size_t i = from; i < elsewhere_.size(); ++i) {
    const auto& [name, value] = elsewhere_[i];
    Value& now = scopes_[function_].variables[name];
    now = of_both(value, now, join(value, now));
  }
  elsewhere_.resize(from);
}

/// `if decode: x = x.cpu().numpy()`: behind it x may still be a tensor on the device, unless the
/// condition asked about x.
void Inference::restore_replaced(NodeId branch, size_t from) {
  const NodeId condition = ast_.child(branch, Role::condition);
  if (condition == kNoNode) return;
  std::unordered_set<std::string_view> seen;
  for (size_t i = from; i < replaced_.size(); ++i) {
    const auto& [name, value] = replaced_[i];
    // What it held before the branch counts, not what the branch made of it on the way.
    if (!seen.insert(name).second || value.is_host()) continue;
    Value& now = scopes_[function_].variables[name];
    bool asked = false;
    for (NodeId at = condition; at < ast_[condition].end; ++at)
      asked |= ast_[at].kind == K::name && ast_[at].text == name;
    // `if n == 0: n = torch.tensor(1)` asks for the value, not for its kind.
    asked &= !compares_with_number(ast_, condition);
    if (value.is_device() && now.is_host() && !asked) now = value;
    // if length is None: length = x.shape[1]: behind it, what callers hand in may still be a tensor
    const Dependency* given = dependency(value);
    if (value.kind == Kind::unknown && given && given->kind == DependencyKind::parameter &&
        (now.kind == Kind::number || now.kind == Kind::shape) && asks_for_none(ast_, condition))
      now = value;
  }
}

/// `if isinstance(x, np.ndarray): x = torch.from_numpy(x)`, without an else: x, which behind the
/// branch is a tensor as callers hand it in, wherever they have it.
NodeId Inference::asked_for_array(NodeId branch, NodeId condition) const {
  if (ast_[branch].kind != K::if_ || ast_.child(branch, Role::alternative) != kNoNode ||
      ast_[condition].kind != K::call || callee_name(ast_, condition) != "isinstance")
    return kNoNode;
  const NodeId what = ast_.child(condition, Role::argument);
  if (what == kNoNode || ast_[what].kind != K::name || ast_[what].next == kNoNode) return kNoNode;
  const std::string_view types = ast_.slice(ast_[what].next);
  return contains_any(types, {"ndarray", "list"}) && !contains_any(types, {"tensor"}) ? what
                                                                                      : kNoNode;
}

/// isinstance(x, torch.Tensor) tells what x is.
void Inference::learn_from_test(NodeId condition) {
  NodeId call = condition;
  if (ast_[call].kind != K::call || callee_name(ast_, call) != "isinstance") return;
  NodeId what = ast_.child(call, Role::argument);
  if (what == kNoNode || ast_[what].kind != K::name || ast_[what].next == kNoNode) return;
  const std::string_view types = ast_.slice(ast_[what].next);
  if (contains_any(types, {"ndarray", "np."}) && contains_any(types, {"tensor", "array,"})) return;
  Value declared = value_of_type(types);
  if (declared.kind == Kind::unknown) return;
  Value& known = scopes_[function_].variables[ast_[what].text];
  // A tensor of a batch is still on the host, and so may be what callers hand in.
  if (known.kind == Kind::batch || known.kind == Kind::host_tensor) return;
  declared.dependency = known.dependency;
  known = declared;
}

}  // namespace stallscope
