#include "source/match/made_functions.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"
#include "source/values/apis.h"

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

/// The function that a decorator stands at, or that a compiler's call is given; kNone of others.
uint32_t compiled_function(const FileView& file, NodeId maker) {
  const Ast& ast = file.ast;
  if (ast[maker].kind != K::decorator) {
    const NodeId of = ast[maker].kind == K::call ? ast.child(maker, Role::argument) : kNoNode;
    return of == kNoNode ? kNone : file.inference.local_function(of);
  }
  for (uint32_t f = 1; f < file.outline.functions.size(); ++f) {
    if (ast[file.outline.functions[f]].parent == ast[maker].parent) return f;
  }
  return kNone;
}

bool is_named_gradient(std::string_view name) {
  return has_word(lower(snake_case(name)), {"grad", "grads", "gradient", "gradients"});
}

/// Of `return loss, grads` the gradients, also in pairs of pairs, and jax.grad(loss)(params, x).
bool holds_gradient(const FileView& file, NodeId given, unsigned depth = 0) {
  constexpr unsigned kDeepest = 4;
  const Ast& ast = file.ast;
  switch (ast[given].kind) {
    case K::name:
      return is_named_gradient(ast[given].text);
    case K::tuple:
      if (depth == kDeepest) return false;
      for (const NodeId part : children(ast, given)) {
        if (holds_gradient(file, part, depth + 1)) return true;
      }
      return false;
    case K::call: {
      const NodeId callee = ast.child(given, Role::callee);
      if (callee == kNoNode || ast[callee].kind != K::call) return false;
      const NodeId maker = ast.child(callee, Role::callee);
      return maker != kNoNode && gives_gradients(file.names.resolve(maker).path);
    }
    default:
      return false;
  }
}

}  // namespace

bool decorates(const FileView& file, const SourceClause& clause, NodeId decorator) {
  const Ast& ast = file.ast;
  const NodeId by = ast[decorator].kind == K::decorator ? compiled_by(ast, decorator) : kNoNode;
  if (by == kNoNode) return false;
  const Dotted& path = file.names.resolve(by);
  return path.imported && std::ranges::find(clause.decorates, path.path) != clause.decorates.end();
}

bool is_used_there(const FileView& file, NodeId decorator) {
  const Ast& ast = file.ast;
  const uint32_t around = file.outline.function_of[decorator];
  const std::string_view name = made_name(ast, decorator);
  if (around == 0 || is_whole_fit(file.facts.functions[around].name)) return false;
  bool called = false;
  const NodeId end = ast[file.outline.functions[around]].end;
  for (NodeId at = ast[ast[decorator].parent].end; at < end; ++at) {
    if (ast[at].kind != K::name || ast[at].text != name) continue;
    if (ast[ast[at].parent].kind != K::call) return false;
    called = true;
  }
  return called;
}

bool gives_gradients_back(const FileView& file, NodeId maker) {
  const uint32_t function = compiled_function(file, maker);
  if (function == kNone) return false;
  const Ast& ast = file.ast;
  const NodeId whole = file.outline.functions[function];
  if (contains_any(ast.slice(whole), {"update(", "apply_updates(", "apply_gradient"})) return false;
  const FunctionFacts& facts = file.facts.functions[function];
  const bool trains = std::ranges::any_of(facts.parameters, [](const std::string& name) {
    return has_word(lower(snake_case(name)),
                    {"params", "param", "parameters", "model", "state", "net", "network", "weights",
                     "actor", "critic", "policy", "variables"});
  });
  if (!trains || std::ranges::any_of(facts.parameters, is_named_gradient)) return false;
  for (NodeId id = whole + 1; id < ast[whole].end; ++id) {
    if (ast[id].kind == K::return_ && file.outline.function_of[id] == function &&
        ast[id].first_child != kNoNode && holds_gradient(file, ast[id].first_child))
      return true;
  }
  return false;
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
