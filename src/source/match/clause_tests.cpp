#include "source/match/clause_tests.h"

#include <algorithm>

#include "source/match/made_functions.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// Whether a part of a C for statement's head assigns `name`.
bool counts_with(const Ast& ast, NodeId part, std::string_view name) {
  for (NodeId at = part; at < ast[part].end; ++at) {
    if (ast[at].kind != K::assign) continue;
    NodeId left = ast.child(at, Role::left);
    if (left != kNoNode && ast[left].text == name) return true;
  }
  return false;
}

/// Whether a target, (i, (a, b)), names `name`.
bool names(const Ast& ast, NodeId target, std::string_view name) {
  for (NodeId at = target; at < ast[target].end; ++at) {
    if (ast[at].kind == K::name && ast[at].text == name) return true;
  }
  return false;
}

}  // namespace

bool fits(const Value& value, const KindWord& wanted, Certainty least) {
  if (std::ranges::find(wanted.kinds, value.kind) != wanted.kinds.end()) {
    return value.certainty >= least && (value.flags & wanted.without) == 0 &&
           (wanted.flags == 0 || (value.flags & wanted.flags) != 0);
  }
  if (value.kind != Kind::unknown || wanted.flags != 0) return false;
  return least == Certainty::unknown || value.dependency != 0;
}

bool ClauseTests::node_is(NodeId id, std::string_view word) const {
  const K kind = ast_[id].kind;
  if (word == "for") return kind == K::for_;
  if (word == "while") return kind == K::while_;
  if (word == "with") return kind == K::with_;
  if (word == "if") return kind == K::if_ || kind == K::elif_;
  if (word == "comprehension") return kind == K::comprehension;
  if (word == "loop") return kind == K::for_ || kind == K::while_ || kind == K::comprehension;
  if (word == "function") return kind == K::function;
  if (word == "call") return kind == K::call;
  return false;
}

/// Whether the node itself is what the test names.
bool ClauseTests::one(NodeId id, const CompiledNested& nested) const {
  const NestedTest& test = *nested.test;
  if (!test.node.empty() && !node_is(id, test.node)) return false;
  if (test.calls.empty() && test.patterns.empty()) return true;
  Bindings bindings;
  return std::ranges::any_of(nested.calls,
                             [&](const CallName& n) { return is_call_of(file_, id, n); }) ||
         std::ranges::any_of(
             nested.patterns[static_cast<size_t>(ast_.grammar)],
             [&](const Pattern& p) { return p.match(ast_, file_.names, id, bindings); });
}

bool ClauseTests::nested_holds(NodeId id, const CompiledNested& nested) const {
  const NestedTest& test = *nested.test;
  if (test.node == "parameter-loop" || test.node == "inner-loop") return in_loop(id, test.node);
  if (test.node == "callers-parameter-loop")
    return !in_loop(id, "parameter-loop") &&
           !facts_.functions[file_.outline.function_of[id]].parameters.empty();
  if (test.node == "assignment-of-self") return assigns_itself(id);
  if (test.node == "its-own-loop") return uses_loop_variable(id);
  if (test.node == "loop-around-its-uses") return is_used_in_inner_loop(file_, id);
  if (test.node == "hand-over") return is_handed_over(file_, id);
  if (test.node == "its-caller") return is_used_there(file_, id);
  if (test.node == "returned-gradient") return gives_gradients_back(file_, id);
  if (test.node == "collate-function")
    return contains_any(facts_.functions[file_.outline.function_of[id]].name, {"collate"});
  if (nested.inside) {
    for (NodeId at = ast_[id].parent; at != kNoNode; at = ast_[at].parent) {
      if (one(at, nested)) return true;
      if (ast_[at].kind == K::with_ && with_has(at, nested)) return true;
      if (ast_[at].kind == K::function && test.node != "function") return false;
    }
    return false;
  }
  for (NodeId at = id + 1; at < ast_[id].end; ++at) {
    if (one(at, nested)) return true;
  }
  return false;
}

/// A with statement's items are around its body.
bool ClauseTests::with_has(NodeId with, const CompiledNested& nested) const {
  for (NodeId item : children(ast_, with)) {
    if (ast_[item].kind != K::with_item) continue;
    for (NodeId at = item; at < ast_[item].end; ++at) {
      if (one(at, nested)) return true;
    }
  }
  return false;
}

/// for p in jax.tree_util.tree_leaves(params): what XLA compiles launches nothing leaf by leaf.
bool ClauseTests::is_over_pytree(uint32_t loop) const {
  const NodeId node = file_.outline.loops[loop];
  const NodeId over = ast_[node].kind == K::for_ ? ast_.child(node, Role::right) : kNoNode;
  if (over == kNoNode) return false;
  const std::string_view text = ast_.slice(over);
  return text.starts_with("jax.") || text.find("tree_leaves") != std::string_view::npos;
}

/// Whether a loop over parameters, or one inside another, is around `id`.
bool ClauseTests::in_loop(NodeId id, std::string_view which) const {
  for (uint32_t loop = file_.outline.loop_of[id]; loop != kNone; loop = facts_.loops[loop].parent) {
    if (which == "parameter-loop") {
      const bool by_group = facts_.loops[loop].over_groups && file_.outline.loop_of[id] == loop;
      if (facts_.loops[loop].over_parameters && !by_group && !is_over_pytree(loop)) return true;
      continue;
    }
    if (facts_.loops[loop].parent != kNone || facts_.loops[loop].comprehension) return true;
    // The only loop of a function that the step calls; the link tells it from the step's own.
    const uint32_t flags = facts_.functions[facts_.loops[loop].function].flags;
    if ((flags & (kMainFunction | kModuleLevel)) == 0) return true;
  }
  return false;
}

/// Whether what a call is about is, or is indexed by, the variable of the innermost loop.
bool ClauseTests::uses_loop_variable(NodeId id) const {
  const uint32_t loop = file_.outline.loop_of[id];
  if (loop == kNone) return false;
  NodeId callee = ast_.child(id, Role::callee);
  NodeId object = callee == kNoNode ? kNoNode : ast_.child(callee, Role::object);
  if (object == kNoNode) return false;
  // mask = masks[i]; found = mask.nonzero(); found[0].item(); what copies a row with tolist() reads
  // it at once
  const unsigned hops = ast_[callee].text == "item" ? 2 : 0;
  return is_made_of_element(object, file_.outline.loops[loop], hops);
}

/// Whether an expression takes an element by a variable of the loop, or is made of what does, over
/// `hops` assignments in the loop.
bool ClauseTests::is_made_of_element(NodeId object, NodeId loop, unsigned hops) const {
  constexpr NodeId kLargest = 24;  // nodes of an expression whose parts are followed
  const bool follows = hops > 0 && ast_[object].end - object <= kLargest;
  const bool over_tensor = is_over_tensor(loop);
  auto indexes = [&](NodeId name) {
    for (NodeId at = name; at != object && at != kNoNode; at = ast_[at].parent) {
      if (ast_[at].role == Role::index) return true;
    }
    // boxes.index({i, 4}).item()
    return ast_.grammar == Grammar::cuda && ast_[object].kind == K::call &&
           ast_[name].role != Role::object &&
           is_one_of(callee_name(ast_, object), {"index", "select"});
  };
  for (NodeId at = object; at < ast_[object].end; ++at) {
    if (ast_[at].kind != K::name) continue;
    if ((over_tensor || indexes(at)) && binds(loop, ast_[at].text)) return true;
    if (!follows || ast_.grammar != Grammar::python) continue;
    const NodeId made =
        file_.inference.definition(file_.outline.function_of[at], ast_[at].text, at);
    if (made > loop && made < ast_[loop].end && ast_[made].end - made <= kLargest &&
        is_made_of_element(made, loop, hops - 1))
      return true;
  }
  return false;
}

/// Whether what a loop runs over gives elements of a tensor: x, enumerate(x), zip(x, names).
bool ClauseTests::gives_elements(NodeId over) const {
  if (over == kNoNode) return false;
  const Value value = file_.inference.at(over);
  if (value.is_device() && value.kind != Kind::jax_array) return true;
  if (ast_[over].kind != K::call || !is_one_of(callee_name(ast_, over), {"enumerate", "zip"}))
    return false;
  for (NodeId given : children(ast_, over)) {
    if (ast_[given].role == Role::argument && gives_elements(given)) return true;
  }
  return false;
}

/// Whether a loop or a comprehension takes a tensor apart.
bool ClauseTests::is_over_tensor(NodeId loop) const {
  if (ast_[loop].kind != K::comprehension) return gives_elements(ast_.child(loop, Role::right));
  for (NodeId clause : children(ast_, loop)) {
    if (ast_[clause].kind != K::comp_for) continue;
    const NodeId over = ast_.child(clause, Role::right);
    // {name: loss.item() for name, loss in losses.items()}: each of them is whole
    const bool whole = over != kNoNode && ast_[over].kind == K::call &&
                       is_one_of(callee_name(ast_, over), {"items", "values"});
    if (!whole && gives_elements(over)) return true;
  }
  return false;
}

/// Whether the loop's head gives `name` its value.
bool ClauseTests::binds(NodeId loop, std::string_view name) const {
  for (NodeId c : children(ast_, loop)) {
    // for (int i = 0; ...) binds i in its first part.
    if (ast_.grammar == Grammar::cuda && ast_[c].role != Role::body && counts_with(ast_, c, name))
      return true;
    if (ast_[c].role == Role::left && names(ast_, c, name)) return true;
    NodeId target = ast_[c].kind == K::comp_for ? ast_.child(c, Role::left) : kNoNode;
    if (target != kNoNode && names(ast_, target, name)) return true;
  }
  if (ast_[loop].kind != K::while_) return false;
  // while (i < n) { ...; i = next; }
  for (NodeId at = loop + 1; at < ast_[loop].end; ++at) {
    const NodeId left = ast_[at].kind == K::assign ? ast_.child(at, Role::left) : kNoNode;
    if (left != kNoNode && ast_.slice(left) == name) return true;
  }
  return false;
}

/// x = f(..., x, ...): the call rewrites its own input.
bool ClauseTests::assigns_itself(NodeId id) const {
  const Node& parent = ast_[ast_[id].parent];
  if (parent.kind != K::assign || ast_[id].role != Role::right) return false;
  NodeId left = ast_.child(ast_[id].parent, Role::left);
  if (left == kNoNode) return false;
  for (NodeId c : children(ast_, id)) {
    if (ast_[c].role == Role::argument && ast_.slice(c) == ast_.slice(left)) return true;
  }
  return false;
}

}  // namespace stallscope
