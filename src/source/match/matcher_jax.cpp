// The matcher for compiled training steps of JAX whose call of jit does not name them: they are
// decorated, or what they are called on is replaced by what they give.
#include <string>

#include "base/text.h"
#include "source/match/matcher.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// A function that takes a state and gives the next one, by its name.
bool replaces_state(std::string_view name) {
  return contains_any(name, {"train_step", "training_step", "update_step", "step_fn", "train_epoch",
                             "training_epoch", "update_epoch"}) &&
         !contains_any(name, {"valid_step", "val_step", "eval_step", "test_step"});
}

bool compiles(const FileView& file, NodeId expression) {
  const Dotted& path = file.names.resolve(expression);
  return path.imported &&
         (path.path == "jax.jit" || path.path == "jax.pmap" || path.path == "flax.nnx.jit" ||
          path.path == "jax.experimental.pjit.pjit");
}

/// Whether `call` donates, or takes options from a dictionary that may.
bool may_donate(const Ast& ast, NodeId call) {
  for (NodeId c : children(ast, call)) {
    if (ast[c].kind == K::star) return true;
    if (ast[c].kind == K::keyword && ast[c].text.starts_with("donate")) return true;
  }
  return false;
}

/// The expression of @jax.jit, @jax.jit(...) or @partial(jax.jit, ...) that donates nothing.
NodeId undonated(const FileView& file, NodeId decorator) {
  const NodeId made = file.ast[decorator].first_child, by = compiled_by(file.ast, decorator);
  if (by == kNoNode || (file.ast[made].kind == K::call && may_donate(file.ast, made)))
    return kNoNode;
  return compiles(file, by) ? made : kNoNode;
}

/// params, self.opt_state: what a training step gives the next of.
bool is_training_state(std::string_view text) {
  return has_word(lower(last_component(text)),
                  {"params", "opt", "optimizer", "variables", "weights", "model"}) ||
         contains_any(text, {"opt_state", "train_state", "training_state", "optimizer_state"});
}

/// Whether a call is told to replace what it is given: params, loss = step(params, batch).
bool replaces_argument(const Ast& ast, NodeId call) {
  // agent_state = update(agent_state, batch), but env_state = step(env_state, action)
  const bool trains = contains_any(callee_name(ast, call), {"update", "train", "learn"});
  const NodeId assign = ast[call].parent;
  const NodeId left = ast[assign].kind == K::assign ? ast.child(assign, Role::left) : kNoNode;
  if (left == kNoNode || left == call) return false;
  const auto is_replaced = [&](NodeId given) {
    const std::string_view text = ast.slice(given);
    const bool kept = trains && has_word(lower(last_component(text)), {"state"}) &&
                      !contains_any(text, {"env", "rng"});
    if (!kept && !is_training_state(text)) return false;
    if (ast[left].kind != K::tuple) return ast.slice(left) == text;
    for (const NodeId target : children(ast, left)) {
      if (ast.slice(target) == text) return true;
    }
    return false;
  };
  for (const NodeId c : children(ast, call)) {
    if (ast[c].role == Role::argument && is_replaced(c)) return true;
  }
  return false;
}

/// Whether a loop calls `compiled` and replaces what it gives it.
bool steps_with(const FileView& file, std::string_view compiled) {
  const Ast& ast = file.ast;
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind == K::call && file.outline.loop_of[id] != kNone &&
        ast.slice(ast.child(id, Role::callee)) == compiled && replaces_argument(ast, id))
      return true;
  }
  return false;
}

/// step = jax.jit(partial(update, n)) that donates nothing, and whose calls replace a state.
void find_undonated_calls(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind != K::call || ast[ast[id].parent].kind != K::assign || may_donate(ast, id))
      continue;
    const NodeId callee = ast.child(id, Role::callee), left = ast.child(ast[id].parent, Role::left);
    if (callee == kNoNode || left == kNoNode || left == id || !compiles(file, callee)) continue;
    const NodeId of = ast.child(id, Role::argument);
    // The rule's pattern names it.
    if (of == kNoNode || replaces_state(ast.slice(of))) continue;
    if (steps_with(file, ast.slice(left))) out.push_back({id, {}, {}});
  }
}

}  // namespace

void find_undonated_steps(const FileView& file, std::vector<Match>& out) {
  if (!file.names.uses("jax")) return;
  for (uint32_t f = 1; f < file.outline.functions.size(); ++f) {
    const NodeId function = file.outline.functions[f], whole = file.ast[function].parent;
    if (!replaces_state(file.facts.functions[f].name) || whole == kNoNode) continue;
    for (NodeId d : children(file.ast, whole)) {
      if (file.ast[d].kind != K::decorator) continue;
      const NodeId made = undonated(file, d);
      if (made != kNoNode) out.push_back({made, {}, {}});
    }
  }
  find_undonated_calls(file, out);
}

}  // namespace stallscope
