#include "source/names/consumers.h"

#include "source/names/names.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// Calls whose elements are those of their first argument.
bool hands_through(const Ast& ast, NodeId call) {
  return is_one_of(callee_name(ast, call),
                   {"enumerate", "tqdm", "trange", "iter", "zip", "islice", "cycle", "track"});
}

}  // namespace

Consumers::Consumers(const Ast& ast, const Outline& outline) : ast_(ast), outline_(outline) {
  if (ast.grammar != Grammar::python) return;
  for (uint32_t loop = 0; loop < outline.loops.size(); ++loop) {
    const NodeId over = iterated(loop);
    if (over != kNoNode && ast[over].kind == K::name)
      named_.push_back({outline.function_of[over], loop, ast[over].text});
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
  const NodeId holder = ast_[made].parent;
  if (ast_[holder].kind == K::for_ && ast_[made].role == Role::right) {
    const NodeId body = ast_.child(holder, Role::body);
    return body == kNoNode ? kNone : outline_.loop_of[body];
  }
  if (ast_[holder].kind != K::assign || ast_[made].role != Role::right) return kNone;
  const NodeId target = ast_.child(holder, Role::left);
  if (target == kNoNode || ast_[target].kind != K::name) return kNone;
  for (const Named& loop : named_) {
    if (loop.function == outline_.function_of[call] && loop.name == ast_[target].text &&
        outline_.loops[loop.loop] > call)
      return loop.loop;
  }
  return kNone;
}

}  // namespace stallscope
