#include "source/names/consumers.h"

#include "source/names/iteration.h"
#include "source/names/names.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// Calls whose elements are made as a loop asks for them, of those of their arguments.
bool hands_through(const Ast& ast, NodeId call) {
  const std::string_view name = callee_name(ast, call);
  return passes_as_asked(name) || is_one_of(name, {"enumerate", "zip", "trange"});
}

}  // namespace

Consumers::Consumers(const Ast& ast, const Outline& outline) : ast_(ast), outline_(outline) {
  if (ast.grammar != Grammar::python) return;
  for (uint32_t loop = 0; loop < outline.loops.size(); ++loop) {
    const NodeId node = outline.loops[loop];
    const NodeId over = ast[node].kind == K::for_ ? ast.child(node, Role::right) : kNoNode;
    if (over != kNoNode) note(over, loop);
  }
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind != K::call || outline.loop_of[id] == kNone || callee_name(ast, id) != "next")
      continue;
    if (const NodeId from = ast.child(id, Role::argument); from != kNoNode)
      note(from, outline.loop_of[id]);
  }
}

/// Notes the variables that a loop takes its elements from: both of zip(a, enumerate(b)).
void Consumers::note(NodeId over, uint32_t loop) {
  if (ast_[over].kind == K::name)
    named_.push_back({outline_.function_of[over], loop, ast_[over].text});
  if (ast_[over].kind != K::call) return;
  if (is_one_of(callee_name(ast_, over), {"items", "values"})) {
    const NodeId object = ast_.child(ast_.child(over, Role::callee), Role::object);
    if (object != kNoNode) note(object, loop);
  }
  if (!hands_through(ast_, over)) return;
  for (const NodeId c : children(ast_, over)) {
    if (ast_[c].role == Role::argument) note(c, loop);
  }
}

NodeId Consumers::iterated(uint32_t loop) const {
  const NodeId node = outline_.loops[loop];
  NodeId over = ast_[node].kind == K::for_ ? ast_.child(node, Role::right) : kNoNode;
  while (over != kNoNode && ast_[over].kind == K::call && hands_through(ast_, over))
    over = ast_.child(over, Role::argument);
  return over;
}

uint32_t Consumers::of(NodeId call) const {
  NodeId made = call;
  while (ast_[ast_[made].parent].kind == K::call && ast_[made].role == Role::argument &&
         hands_through(ast_, ast_[made].parent))
    made = ast_[made].parent;
  return of_whole(made, ast_[made].parent);
}

uint32_t Consumers::of_element(NodeId element) const {
  NodeId whole = ast_[element].parent;
  if (ast_[whole].kind == K::pair) whole = ast_[whole].parent;
  if (ast_[whole].kind != K::list && ast_[whole].kind != K::tuple && ast_[whole].kind != K::dict)
    return kNone;
  return of_whole(whole, ast_[whole].parent);
}

/// The loop over `whole`, which `holder` runs over or binds to a name.
uint32_t Consumers::of_whole(NodeId whole, NodeId holder) const {
  if (ast_[holder].kind == K::for_ && ast_[whole].role == Role::right) {
    const NodeId body = ast_.child(holder, Role::body);
    return body == kNoNode ? kNone : outline_.loop_of[body];
  }
  if (ast_[holder].kind != K::assign || ast_[whole].role != Role::right) return kNone;
  const NodeId target = ast_.child(holder, Role::left);
  if (target == kNoNode || ast_[target].kind != K::name) return kNone;
  for (const Named& loop : named_) {
    if (loop.function == outline_.function_of[whole] && loop.name == ast_[target].text &&
        outline_.loops[loop.loop] > whole)
      return loop.loop;
  }
  return kNone;
}

}  // namespace stallscope
