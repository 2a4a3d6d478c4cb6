#include "source/extract/gradient_names.h"

#include <algorithm>

#include "source/syntax/words.h"
#include "source/values/apis.h"

namespace stallscope {
namespace {

using K = NodeKind;

}  // namespace

GradientNames::GradientNames(const Ast& ast, const Names& names, const Outline& outline,
                             const FileFacts& facts)
    : ast_(ast), names_(names), outline_(outline), facts_(facts) {
  const bool may = names.uses("jax") || names.uses("equinox") || names.uses("flax") ||
                   names.uses("haiku") || names.uses("nnx") ||
                   ast.source.find("grad_and_value") != std::string_view::npos;
  if (!may || ast.grammar != Grammar::python) return;
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind == K::call) add_made(id);
    if (ast[id].kind == K::function) add_decorated(id);
  }
}

/// grad_fn = jax.jit(jax.value_and_grad(loss))
void GradientNames::add_made(NodeId call) {
  const NodeId callee = ast_.child(call, Role::callee);
  if (callee == kNoNode) return;
  const Dotted& path = names_.resolve(callee);
  if (!path.imported || !gives_gradients(path.path)) return;
  const NodeId assign = ast_[outermost_wrapper(call)].parent;
  const NodeId left = ast_[assign].kind == K::assign ? ast_.child(assign, Role::left) : kNoNode;
  if (left != kNoNode && (ast_[left].kind == K::name || ast_[left].kind == K::attribute))
    names_given_.insert(ast_[left].text);
  const uint32_t function = outline_.function_of[call];
  if (function != 0 && !hands_out_function(function)) made_.push_back(call);
}

/// @jax.value_and_grad
void GradientNames::add_decorated(NodeId function) {
  const NodeId whole = ast_[function].parent;
  if (ast_[whole].kind != K::other) return;
  for (NodeId at : children(ast_, whole)) {
    if (ast_[at].kind != K::decorator || ast_[at].first_child == kNoNode) continue;
    NodeId name = ast_[at].first_child;
    if (ast_[name].kind == K::call) name = ast_.child(name, Role::callee);
    if (name == kNoNode) continue;
    const Dotted& path = names_.resolve(name);
    if (path.imported && gives_gradients(path.path)) names_given_.insert(ast_[function].text);
  }
}

/// `return step`, `return jax.jit(step)`: what builds a step runs none.
bool GradientNames::hands_out_function(uint32_t function) const {
  const NodeId node = outline_.functions[function];
  for (NodeId at = node; at < ast_[node].end; ++at) {
    const NodeId value = ast_[at].kind == K::return_ && outline_.function_of[at] == function
                             ? ast_[at].first_child
                             : kNoNode;
    if (value == kNoNode) continue;
    const auto is_named = [&](const FunctionFacts& f) {
      return f.parent == function && f.name == ast_[value].text;
    };
    if (ast_[value].kind == K::name && (names_given_.contains(ast_[value].text) ||
                                        std::ranges::any_of(facts_.functions, is_named)))
      return true;
    if (ast_[value].kind == K::call && contains_any(callee_name(ast_, value), {"jit", "pmap"}))
      return true;
  }
  return false;
}

/// jax.jit(jax.vmap(grad(f))) of grad(f).
NodeId GradientNames::outermost_wrapper(NodeId call) const {
  NodeId at = call;
  while (ast_[ast_[at].parent].kind == K::call && ast_[at].role == Role::argument)
    at = ast_[at].parent;
  return at;
}

bool GradientNames::is_called(NodeId call, const Dotted& path) const {
  if (!gives_gradients(path.path)) return false;
  const NodeId outer = outermost_wrapper(call);
  return ast_[ast_[outer].parent].kind == K::call && ast_[outer].role == Role::callee;
}

}  // namespace stallscope
