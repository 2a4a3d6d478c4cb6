// The matcher for compiled training steps of JAX whose call of jit does not name them: they are
// decorated, or what they are called on is replaced by what they give.
#include <charconv>
#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "source/match/matcher.h"
#include "source/names/roles.h"
#include "source/names/training_state.h"
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

/// Whether the text of a function makes the next parameters from gradients: whatever its name.
bool updates_parameters(std::string_view text) {
  return contains_any(text, {"optax.apply_updates(", "eqx.apply_updates(", ".apply_gradients(",
                             ".apply_gradient("}) ||
         // of flax.nnx, which updates what it is given
         (contains_any(text, {"nnx.grad(", "nnx.value_and_grad("}) &&
          contains_any(text, {"optimizer.update(", "optim.update(", "opt.update("}));
}

/// The first of what a function gives: of `return (model, actor), report` the model, of `return
/// fori_loop(0, n, one, (rng, actor))` what the loop carries. kNoNode of a bare `return`.
NodeId first_given(const Ast& ast, NodeId statement) {
  NodeId first = ast[statement].first_child;
  for (unsigned depth = 0; depth < 2 && first != kNoNode && ast[first].kind == K::tuple; ++depth)
    first = ast[first].first_child;
  if (first == kNoNode || ast[first].kind != K::call ||
      !is_one_of(callee_name(ast, first), {"fori_loop", "while_loop"}))
    return first;
  NodeId carried = ast.child(first, Role::argument);
  while (carried != kNoNode && ast[carried].next != kNoNode) carried = ast[carried].next;
  return carried != kNoNode && ast[carried].kind == K::tuple ? ast[carried].first_child : first;
}

/// "state" of jax.lax.scan(one, state, None, length=n)[0]; empty of anything else.
std::string_view carried_by_scan(const Ast& ast, NodeId given) {
  const NodeId scan = ast[given].kind == K::subscript ? ast.child(given, Role::object) : kNoNode;
  const NodeId body = scan == kNoNode || callee_name(ast, scan) != "scan"
                          ? kNoNode
                          : ast.child(scan, Role::argument);
  return body == kNoNode || ast[body].next == kNoNode ? std::string_view()
                                                      : ast.slice(ast[body].next);
}

bool is_random_state(std::string_view name) {
  return has_word(name, {"rng", "key"});
}

/// Whether a function is called an update or a step of what is trained, of no average and no
/// environment.
bool is_called_update(std::string_view function) {
  const std::string name = lower(snake_case(function));
  return has_word(name, {"update", "updates", "train", "learn", "step", "steps", "pretrain",
                         "finetune"}) &&
         !has_word(name, {"target", "soft", "ema", "polyak", "eval", "env", "rng", "key"});
}

/// What gives the next of itself and of what it is given: `return rng, new_actor, new_critic,
/// info`, `return self.replace(network=new_network), info`, `return actor_state, critic_state,
/// losses`.
bool gives_next_state(const FileView& file, uint32_t function) {
  const FunctionFacts& facts = file.facts.functions[function];
  if (!is_called_update(facts.name)) return false;
  const Ast& ast = file.ast;
  const auto is_parameter = [&](std::string_view text) {
    return std::ranges::find(facts.parameters, text) != facts.parameters.end();
  };
  const auto is_next = [&](std::string_view text) {
    return text.starts_with("self.replace(") || is_one_of(text, {"new_agent", "new_self"}) ||
           (text.starts_with("new_") && is_parameter(text.substr(4)) && !is_random_state(text));
  };
  const NodeId whole = file.outline.functions[function];
  for (NodeId id = whole + 1; id < ast[whole].end; ++id) {
    if (ast[id].kind != K::return_ || file.outline.function_of[id] != function) continue;
    const NodeId first = first_given(ast, id);
    if (first == kNoNode) continue;
    const std::string_view carried = carried_by_scan(ast, first);
    if (is_parameter(carried) && has_word(carried, {"state"})) return true;
    unsigned states = 0;
    for (NodeId part = first; part != kNoNode; part = ast[part].next) {
      const std::string_view text = ast.slice(part);
      if (is_next(text)) return true;
      states += is_parameter(text) && !has_word(text, {"env"}) && !is_random_state(text) &&
                has_word(text, {"state", "params", "opt", "model", "actor", "critic", "agent"});
    }
    if (states > 1) return true;
  }
  return false;
}

/// from utils.jax_utils import pmap
bool is_own_pmap(const FileView& file, NodeId expression) {
  const Dotted& path = file.names.resolve(expression);
  return path.imported && !path.path.starts_with("jax.") && last_component(path.path) == "pmap";
}

/// @common.jit_with(static_argnames=["samples"]), of a program's own.
bool is_own_jit(const FileView& file, NodeId made, NodeId expression) {
  const Ast& ast = file.ast;
  const Dotted& path = file.names.resolve(expression);
  if (ast[made].kind != K::call || !path.imported || path.path.starts_with("jax.") ||
      !has_word(lower(snake_case(last_component(path.path))), {"jit"}))
    return false;
  for (NodeId c : children(ast, made)) {
    if (ast[c].kind == K::keyword && ast[c].text.starts_with("static_arg")) return true;
  }
  return false;
}

bool compiles(const FileView& file, NodeId expression) {
  if (is_own_pmap(file, expression)) return true;
  const Dotted& path = file.names.resolve(expression);
  return path.imported &&
         is_one_of(path.path, {"jax.jit", "jax.pmap", "flax.nnx.jit", "jax.experimental.pjit.pjit",
                               "equinox.filter_jit", "equinox.filter_pmap"});
}

/// Whether `call` donates, or takes options from a dictionary that may.
bool may_donate(const Ast& ast, NodeId call) {
  for (NodeId c : children(ast, call)) {
    if (ast[c].kind == K::star) return true;
    if (ast[c].kind == K::keyword && ast[c].text.starts_with("donate") &&
        !is_one_of(ast.slice(ast.child(c, Role::value)), {"()", "[]", "None"}))
      return true;
  }
  return false;
}

/// Which arguments `call` donates, where it says so in numbers: {1, 2} of donate_argnums=(1, 2).
/// None of what is not known, or has no such option.
std::vector<uint32_t> donated_positions(const Ast& ast, NodeId call) {
  std::vector<uint32_t> out;
  const auto add = [&](NodeId number) {
    uint32_t position = 0;
    const std::string_view text = ast.slice(number);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), position);
    if (error != std::errc() || end != text.data() + text.size()) return false;
    out.push_back(position);
    return true;
  };
  for (NodeId c : children(ast, call)) {
    if (ast[c].kind != K::keyword || ast[c].text != "donate_argnums") continue;
    const NodeId value = ast.child(c, Role::value);
    if (ast[value].kind == K::number) {
      add(value);
      continue;
    }
    if (ast[value].kind != K::tuple && ast[value].kind != K::list) continue;
    for (NodeId number : children(ast, value)) {
      if (!add(number)) return {};
    }
  }
  return out;
}

/// Whether a loop calls `compiled` and replaces a state that is not among those donated.
bool leaves_state(const FileView& file, std::string_view compiled,
                  std::span<const uint32_t> donated) {
  const Ast& ast = file.ast;
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind == K::call && file.outline.loop_of[id] != kNone &&
        ast.slice(ast.child(id, Role::callee)) == compiled && replaces_beside(ast, id, donated))
      return true;
  }
  return false;
}

/// The expression of @jax.jit, @jax.jit(...) or @partial(jax.jit, ...) that donates nothing.
NodeId undonated(const FileView& file, NodeId decorator) {
  const NodeId made = file.ast[decorator].first_child, by = compiled_by(file.ast, decorator);
  if (by == kNoNode || (file.ast[made].kind == K::call && may_donate(file.ast, made)))
    return kNoNode;
  return compiles(file, by) || is_own_jit(file, made, by) ? made : kNoNode;
}

/// Whether a loop calls `compiled` and replaces what it gives it.
bool steps_with(const FileView& file, std::string_view compiled) {
  const Ast& ast = file.ast;
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind == K::call && file.outline.loop_of[id] != kNone &&
        ast.slice(ast.child(id, Role::callee)) == compiled && replaces_training_state(ast, id))
      return true;
  }
  return false;
}

/// train_batch = eqx.filter_jit(make_computer(sizes)), update_fn = pmap(partial(scan, update)): a
/// step by its name, of which nothing else is seen.
bool is_made_step(const FileView& file, NodeId made, std::string_view name) {
  const Ast& ast = file.ast;
  if (ast[made].kind != K::call || !is_called_update(name)) return false;
  const std::string words = lower(snake_case(name));
  const Dotted& by = file.names.resolve(ast.child(made, Role::callee));
  return has_word(words, {"update", "learn", "step", "steps", "batch"}) &&
         has_word(words, {"update", "learn", "train", "sgd", "optimize"}) &&
         !(by.imported && first_component(by.path) == "jax");
}

/// step = jax.jit(partial(update, n)), return jax.pmap(update) that donates nothing, and whose
/// calls replace a state.
void find_undonated_calls(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind != K::call) continue;
    const NodeId statement = ast[id].parent;
    if (may_donate(ast, id)) {
      const NodeId by = ast.child(id, Role::callee);
      const NodeId name =
          ast[statement].kind == K::assign ? ast.child(statement, Role::left) : kNoNode;
      const std::vector<uint32_t> donated = donated_positions(ast, id);
      if (!donated.empty() && name != kNoNode && by != kNoNode && compiles(file, by) &&
          leaves_state(file, ast.slice(name), donated))
        out.push_back({id, {}, {}});
      continue;
    }
    const bool given = ast[statement].kind == K::return_;
    if (!given && ast[statement].kind != K::assign) continue;
    const NodeId callee = ast.child(id, Role::callee), left = ast.child(statement, Role::left);
    if (callee == kNoNode || (!given && (left == kNoNode || left == id)) || !compiles(file, callee))
      continue;
    const NodeId of = ast.child(id, Role::argument);
    if (of == kNoNode) continue;
    // The rule's pattern names it, but for donate_argnums=().
    if (replaces_state(ast.slice(of)) && !is_own_pmap(file, callee) &&
        !contains_any(ast.slice(id), {"donate_arg"}))
      continue;
    const uint32_t function = file.inference.local_function(of);
    const bool updates = ast[of].kind != K::call && function != kNone &&
                         (updates_parameters(ast.slice(file.outline.functions[function])) ||
                          gives_next_state(file, function));
    // pmap(make_training_step(...)), nnx.jit(algorithm.train)
    const bool made =
        (ast[of].kind == K::call && replaces_state(callee_name(ast, of))) ||
        (ast[of].kind == K::attribute && is_one_of(ast[of].text, {"train", "update", "learn"}));
    if (updates || made ||
        (!given && (is_made_step(file, of, last_component(ast.slice(left))) ||
                    steps_with(file, ast.slice(left)))))
      out.push_back({id, {}, {}});
  }
}

}  // namespace

void find_undonated_steps(const FileView& file, std::vector<Match>& out) {
  if (!file.names.uses("jax")) return;
  for (uint32_t f = 1; f < file.outline.functions.size(); ++f) {
    const NodeId function = file.outline.functions[f], whole = file.ast[function].parent;
    if (whole == kNoNode ||
        (!replaces_state(file.facts.functions[f].name) &&
         !updates_parameters(file.ast.slice(function)) && !gives_next_state(file, f)))
      continue;
    for (NodeId d : children(file.ast, whole)) {
      if (file.ast[d].kind != K::decorator) continue;
      const NodeId made = undonated(file, d);
      if (made != kNoNode) out.push_back({made, {}, {}});
    }
  }
  find_undonated_calls(file, out);
}

}  // namespace stallscope
