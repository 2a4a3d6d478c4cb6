#include "source/extract/gradient_names.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "source/syntax/words.h"
#include "source/values/apis.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// jax.grad(self.log_partition)(params), jax.grad(wave_function): derivatives that a formula asks
/// for, and no training is named in them. value_and_grad() is what training calls.
bool only_derives(const Ast& ast, NodeId call, const Dotted& path) {
  if (path.path != "jax.grad") return false;
  const NodeId of = ast.child(call, Role::argument);
  return of != kNoNode && (ast[of].kind == K::name || ast[of].kind == K::attribute) &&
         !contains_any(ast.slice(of),
                       {"loss", "cost", "obj", "nll", "elbo", "crit", "train", "step", "err", "mse",
                        "forward", "score", "likelihood", "reward", "_kl", "agent"});
}

/// jax.value_and_grad(f), jax.grad(loss): gradients that training takes.
bool takes_gradients(const Ast& ast, NodeId call, const Dotted& path) {
  return gives_gradients(path.path) && !only_derives(ast, call, path);
}

}  // namespace

GradientNames::GradientNames(const Ast& ast, const Names& names, const Outline& outline,
                             const FileFacts& facts)
    : ast_(ast), names_(names), outline_(outline), facts_(facts) {
  const bool may = names.uses_jax() || holds_text(ast.source, "grad_and_value");
  if (!may || ast.grammar != Grammar::python) return;
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind == K::call) add_made(id);
    if (ast[id].kind == K::function) add_decorated(id);
  }
  if (!made_.empty()) leave_out_called();
}

/// The name that a function is given, as it is or wrapped: f of f = jax.jit(g); none else.
std::string_view GradientNames::name_given(NodeId function) const {
  const NodeId assign = ast_[outermost_wrapper(function)].parent;
  const NodeId left = ast_[assign].kind == K::assign ? ast_.child(assign, Role::left) : kNoNode;
  return left != kNoNode && (ast_[left].kind == K::name || ast_[left].kind == K::attribute)
             ? ast_[left].text
             : std::string_view();
}

/// grad_fn = jax.jit(jax.value_and_grad(loss)); step = jax.jit(lambda p, x: grad_fn(p, x))
void GradientNames::add_made(NodeId call) {
  const NodeId callee = ast_.child(call, Role::callee);
  if (callee == kNoNode) return;
  const Dotted& path = names_.resolve(callee);
  const bool makes = path.imported && takes_gradients(ast_, call, path);
  if (!makes && path.imported && compiles_function(path.path)) rename_compiled(call);
  if (!makes && !contains(ast_[callee].text)) return;
  std::string_view name = makes ? name_given(call) : std::string_view();
  const NodeId lambda = ast_.ancestor(call, K::lambda);
  if (name.empty() && lambda != kNoNode) name = name_given(lambda);
  if (!name.empty()) names_given_.insert(name);
  const uint32_t function = outline_.function_of[call];
  if (makes && function != 0 && !hands_out_function(function)) made_.push_back({call, name});
}

/// gradient_of = jax.grad(loss); gradients = jax.jit(gradient_of): the second name is called.
void GradientNames::rename_compiled(NodeId call) {
  const NodeId of = ast_.child(call, Role::argument);
  if (of == kNoNode || ast_[of].kind != K::name || !contains(ast_[of].text)) return;
  const std::string_view name = name_given(call);
  if (name.empty()) return;
  names_given_.insert(name);
  for (Made& made : made_) {
    if (made.name == ast_[of].text) made.name = name;
  }
}

bool GradientNames::is_in_kept_lambda(NodeId call) const {
  const NodeId lambda = ast_.grammar == Grammar::python ? ast_.ancestor(call, K::lambda) : kNoNode;
  return lambda != kNoNode && !name_given(lambda).empty();
}

/// What a call is of: grad_fn of grad_fn(params), and of jax.vmap(grad_fn, (None, 0))(params, x).
std::string_view GradientNames::called_name(NodeId call) const {
  const NodeId callee = ast_[call].kind == K::call ? ast_.child(call, Role::callee) : kNoNode;
  if (callee == kNoNode || ast_[callee].kind != K::call)
    return callee == kNoNode ? std::string_view() : ast_[callee].text;
  const NodeId wrapped = ast_.child(callee, Role::argument);
  return wrapped == kNoNode ? std::string_view() : ast_[wrapped].text;
}

/// `for batch in data: loss, grads = grad_fn(params, batch)`: the call tells what a step is, also
/// in a function inside, and nothing is stepped where the name was given. What scan() is handed
/// runs there and then.
void GradientNames::leave_out_called() {
  std::unordered_set<std::string_view> scanned;
  for (NodeId id = 1; id < ast_.size(); ++id) {
    if (ast_[id].kind == K::name && ast_[id].role == Role::argument &&
        is_one_of(callee_name(ast_, ast_[id].parent), {"scan", "fori_loop", "while_loop"}))
      scanned.insert(ast_[id].text);
  }
  std::set<std::pair<std::string_view, uint32_t>> called, called_in_scan;
  for (NodeId id = 1; id < ast_.size(); ++id) {
    const std::string_view name = called_name(id);
    if (name.empty() || !contains(name)) continue;
    for (uint32_t at = outline_.function_of[id]; at != kNone; at = facts_.functions[at].parent) {
      if (!called.emplace(name, at).second) break;
      if (!scanned.contains(facts_.functions[at].name)) continue;
      for (at = facts_.functions[at].parent; at != kNone; at = facts_.functions[at].parent)
        called_in_scan.emplace(name, at);
      break;
    }
  }
  std::erase_if(made_, [&](const Made& made) {
    return called.contains({made.name, outline_.function_of[made.call]}) || is_handed_to_loop(made);
  });
  for (Made& made : made_)
    made.scanned = called_in_scan.contains({made.name, outline_.function_of[made.call]});
}

/// gradient = jax.grad(objective); return self._descend(objective, gradient): whether a function of
/// this file that is handed it has a loop of its own, which steps.
bool GradientNames::is_handed_to_loop(const Made& made) const {
  if (made.name.empty()) return false;
  const uint32_t function = outline_.function_of[made.call];
  const NodeId body = outline_.functions[function];
  for (NodeId at = made.call; at < ast_[body].end; ++at) {
    if (ast_[at].kind != K::name || ast_[at].text != made.name || ast_[at].role != Role::argument)
      continue;
    const NodeId callee = ast_.child(ast_[at].parent, Role::callee);
    if (callee == kNoNode) continue;
    const auto runs = [&](const LoopFacts& loop) {
      const FunctionFacts& of = facts_.functions[loop.function];
      return loop.function != function && of.name == ast_[callee].text;
    };
    if (std::ranges::any_of(facts_.loops, runs)) return true;
  }
  return false;
}

/// @jax.value_and_grad
void GradientNames::add_decorated(NodeId function) {
  const NodeId whole = ast_[function].parent;
  if (ast_[whole].kind != K::other) return;
  for (NodeId at : children(ast_, whole)) {
    if (ast_[at].kind != K::decorator) continue;
    const NodeId name = decorated_by(ast_, at);
    if (name == kNoNode) continue;
    const Dotted& path = names_.resolve(name);
    if (path.imported && gives_gradients(path.path)) names_given_.insert(ast_[function].text);
  }
}

/// `return step`, `return jax.jit(step)`, `return params, jax.grad(loss)`: what builds a step runs
/// none.
bool GradientNames::hands_out_function(uint32_t function) const {
  const auto is_function = [&](NodeId value) {
    const auto is_named = [&](const FunctionFacts& f) {
      return f.parent == function && f.name == ast_[value].text;
    };
    if (ast_[value].kind == K::name)
      return names_given_.contains(ast_[value].text) ||
             std::ranges::any_of(facts_.functions, is_named);
    return ast_[value].kind == K::call &&
           contains_any(callee_name(ast_, value), {"jit", "pmap", "grad"});
  };
  const NodeId node = outline_.functions[function];
  for (NodeId at = node; at < ast_[node].end; ++at) {
    if (ast_[at].kind != K::return_ || outline_.function_of[at] != function) continue;
    NodeId value = ast_[at].first_child;
    if (value != kNoNode && ast_[value].kind == K::tuple) value = ast_[value].first_child;
    for (; value != kNoNode; value = ast_[value].next) {
      if (is_function(value)) return true;
    }
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
  if (!takes_gradients(ast_, call, path)) return false;
  const NodeId outer = outermost_wrapper(call);
  return ast_[ast_[outer].parent].kind == K::call && ast_[outer].role == Role::callee;
}

}  // namespace stallscope
