#include "source/match/made_functions.h"

#include <algorithm>
#include <string_view>

#include "source/names/names.h"
#include "source/names/roles.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// What a call or a decorator makes is called: step of `step = jax.jit(f)` and of `def step()`.
std::string_view made_name(const Ast& ast, NodeId maker) {
  if (ast[maker].kind == K::decorator) {
    for (const NodeId c : children(ast, ast[maker].parent)) {
      if (ast[c].kind == K::function) return ast[c].text;
    }
    return {};
  }
  const NodeId assign = ast[maker].parent;
  const NodeId left = ast[assign].kind == K::assign ? ast.child(assign, Role::left) : kNoNode;
  return left != kNoNode && ast[left].kind == K::name ? ast[left].text : std::string_view();
}

/// Whether the function around a decorator calls what that stands at, and hands it to others only
/// as an argument.
bool is_used_there(const FileView& file, NodeId decorator) {
  const Ast& ast = file.ast;
  const uint32_t around = file.outline.function_of[decorator];
  const std::string_view name = made_name(ast, decorator);
  if (is_whole_fit(file.facts.functions[around].name)) return false;
  bool called = false;
  const NodeId end = ast[file.outline.functions[around]].end;
  for (NodeId at = ast[ast[decorator].parent].end; at < end; ++at) {
    if (ast[at].kind != K::name || ast[at].text != name) continue;
    if (ast[ast[at].parent].kind != K::call) return false;
    called = true;
  }
  return called;
}

}  // namespace

bool decorates_inner(const FileView& file, const SourceClause& clause, NodeId decorator) {
  const Ast& ast = file.ast;
  if (ast[decorator].kind != K::decorator || file.outline.function_of[decorator] == 0) return false;
  const NodeId by = compiled_by(ast, decorator);
  if (by == kNoNode) return false;
  const Dotted& path = file.names.resolve(by);
  return path.imported &&
         std::ranges::find(clause.decorates, path.path) != clause.decorates.end() &&
         is_used_there(file, decorator);
}

bool is_used_in_inner_loop(const FileView& file, NodeId maker) {
  const Ast& ast = file.ast;
  const uint32_t own = file.outline.loop_of[maker];
  const std::string_view name = made_name(ast, maker);
  if (own == kNone || name.empty() || file.facts.loops[own].over_batches) return false;
  const NodeId end = ast[file.outline.loops[own]].end;
  for (NodeId at = ast[maker].end; at < end; ++at) {
    if (ast[at].kind != K::call || callee_name(ast, at) != name) continue;
    for (uint32_t loop = file.outline.loop_of[at]; loop != own && loop != kNone;
         loop = file.facts.loops[loop].parent) {
      if (file.facts.loops[loop].parent == own && !file.facts.loops[loop].comprehension)
        return true;
    }
  }
  return false;
}

bool is_handed_over(const FileView& file, NodeId maker) {
  const Ast& ast = file.ast;
  const uint32_t around = file.outline.function_of[maker];
  if (around == 0) return false;
  const NodeId up = ast[maker].parent;
  if (ast[up].kind == K::return_ || ast[up].kind == K::tuple || ast[up].kind == K::keyword)
    return true;
  if (ast[up].kind != K::assign)
    return ast[up].kind == K::call && ast[maker].role == Role::argument;
  const std::string_view name = made_name(ast, maker);
  if (name.empty()) return true;
  for (NodeId at = ast[up].end; at < ast[file.outline.functions[around]].end; ++at) {
    if (ast[at].kind != K::name || ast[at].text != name) continue;
    if (ast[ast[at].parent].kind != K::call || ast.child(ast[at].parent, Role::callee) != at)
      return true;
  }
  return false;
}

}  // namespace stallscope
