#include "source/names/training_state.h"

#include <algorithm>
#include <string>
#include <vector>

#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// What is handed over: state of step(state), step(state=state) and step(*state).
NodeId handed_over(const Ast& ast, NodeId argument) {
  const bool wrapped = ast[argument].kind == K::keyword || ast[argument].kind == K::star;
  return wrapped && ast[argument].first_child != kNoNode ? ast[argument].first_child : argument;
}

/// The texts that a call's values are bound to.
std::vector<std::string_view> targets_of(const Ast& ast, NodeId call) {
  std::vector<std::string_view> out;
  const NodeId assign = ast[call].parent;
  if (ast[assign].kind != K::assign || ast[call].role != Role::right) return out;
  const NodeId left = ast.child(assign, Role::left);
  if (left == kNoNode) return out;
  if (ast[left].kind != K::tuple) return {ast.slice(left)};
  for (const NodeId target : children(ast, left))
    out.push_back(ast.slice(handed_over(ast, target)));
  return out;
}

bool is_state_of_optimizer(std::string_view name) {
  return is_one_of(name, {"opt_state", "optimizer_state", "optim_state", "train_state",
                          "training_state", "opt_states", "train_states"});
}

/// model_seat is none: who plays for the model.
bool is_parameters(std::string_view name) {
  return has_word(name, {"params", "variables", "weights"}) ||
         has_word(name.substr(name.rfind('_') + 1), {"model"});
}

/// env_state and the state of a random generator are no training's.
bool is_of_other_kind(std::string_view name) {
  return has_word(name, {"env", "rng", "key", "keys", "obs", "buffer", "replay", "sampler", "ema",
                         "norm", "queue", "settings", "config", "options", "kwargs"});
}

bool may_be_trained(std::string_view name) {
  return (is_parameters(name) || has_word(name, {"state", "states"})) && !is_of_other_kind(name);
}

/// run_training(state), train_epoch(state, data): of one call, not of one step.
bool runs_many_steps(std::string_view name) {
  return has_word(name, {"epoch"}) ||
         (has_word(name, {"run", "train", "training", "learn", "fit"}) &&
          !has_word(name, {"step", "update", "batch", "iter", "iteration", "minibatch"}));
}

}  // namespace

bool replaces_training_state(const Ast& ast, NodeId call) {
  const std::vector<std::string_view> targets = targets_of(ast, call);
  const std::string name = lower(snake_case(callee_name(ast, call)));
  if (targets.empty() || runs_many_steps(name) || has_word(name, {"env"}) ||
      contains_any(name, {"init", "save", "checkpoint", "restore", "load", "eval", "replicate",
                          "shard", "device_put", "copy", "reset", "ema", "broadcast"}))
    return false;
  const NodeId object = ast.child(ast.child(call, Role::callee), Role::object);
  const bool trains = has_word(name, {"step", "train", "update", "learn", "sgd"}) &&
                      !(object != kNoNode && contains_any(ast.slice(object), {"env"}));
  // state = sgd(state): of thousands of steps at once. One step is given a batch as well, and who
  // is given a loader takes many.
  const NodeId first = ast.child(call, Role::argument);
  for (NodeId c = first; c != kNoNode; c = ast[c].next) {
    if (ast[c].kind != K::call && is_loader_name(ast.slice(c))) return false;
  }
  const bool is_given_more = first != kNoNode && ast[first].next != kNoNode;
  unsigned attributes = 0;
  for (NodeId c = first; c != kNoNode; c = ast[c].next) {
    const NodeId given = handed_over(ast, c);
    const std::string kept = lower(last_component(ast.slice(given)));
    // params, opt_state, loss = self.sgd_step(self.params, batch, self.opt_state)
    const bool own = ast.slice(given).starts_with("self.") && is_state_of_optimizer(kept) &&
                     std::ranges::find(targets, kept) != targets.end();
    if (!own && std::ranges::find(targets, ast.slice(given)) == targets.end()) continue;
    if (is_state_of_optimizer(kept)) return true;
    // self.regrets, self.strategy = step(self.regrets, self.strategy, key)
    attributes += ast[given].kind == K::attribute && !is_of_other_kind(kept);
    if (attributes > 1) return true;
    if (is_given_more && may_be_trained(kept) &&
        (trains || (is_parameters(kept) && targets.size() > 1)))
      return true;
  }
  return false;
}

bool replaces_beside(const Ast& ast, NodeId call, std::span<const uint32_t> donated) {
  const std::vector<std::string_view> targets = targets_of(ast, call);
  uint32_t position = 0;
  for (NodeId c = ast.child(call, Role::argument); c != kNoNode; c = ast[c].next, ++position) {
    if (ast[c].kind == K::star || ast[c].kind == K::keyword) return false;
    const std::string kept = lower(last_component(ast.slice(c)));
    if ((is_state_of_optimizer(kept) || may_be_trained(kept)) &&
        std::ranges::find(donated, position) == donated.end() &&
        std::ranges::find(targets, ast.slice(c)) != targets.end())
      return true;
  }
  return false;
}

bool names_training_step(std::string_view function) {
  const std::string name = lower(snake_case(function));
  if (has_word(name, {"eval", "evaluation", "valid", "validation", "val", "test", "env", "epoch",
                      "make", "get", "build", "create", "init", "log", "num"}))
    return false;
  if (has_word(name, {"train", "training", "pretrain", "update", "learn"}) &&
      has_word(name, {"step", "jit", "jitted", "pjit", "pmap", "pmapped", "compiled"}))
    return true;
  return has_word(name, {"step"}) &&
         has_word(name, {"sgd", "learner", "learning", "optim", "optimize", "optimizer",
                         "optimization", "gradient", "grad"});
}

bool updates_own_state(const Ast& ast, NodeId call) {
  const std::string_view name = callee_name(ast, call);
  const NodeId handed = ast.child(call, Role::argument);
  // An update_jit() may only look at what it is given.
  if (!names_training_step(name) || !contains_any(name, {"train", "step"}) || handed == kNoNode ||
      ast[handed].kind != K::attribute)
    return false;
  const std::vector<std::string_view> targets = targets_of(ast, call);
  return std::ranges::find(targets, ast.slice(handed)) != targets.end();
}

bool steps_trainer(const Ast& ast, NodeId call) {
  const NodeId object = ast.child(ast.child(call, Role::callee), Role::object);
  return callee_name(ast, call) == "step" && object != kNoNode && ast[call].role == Role::right &&
         has_word(lower(snake_case(last_component(ast.slice(object)))), {"trainer", "learner"});
}

bool steps_environment_state(const Ast& ast, NodeId call) {
  const std::vector<std::string_view> targets = targets_of(ast, call);
  if (targets.size() < 3 || !has_word(lower(snake_case(callee_name(ast, call))), {"step"}))
    return false;
  for (NodeId c = ast.child(call, Role::argument); c != kNoNode; c = ast[c].next) {
    const std::string_view given = ast.slice(c);
    if (has_word(lower(snake_case(last_component(given))), {"state"}) &&
        std::ranges::find(targets, given) != targets.end())
      return true;
  }
  return false;
}

bool sends_step(const Ast& ast, NodeId callee) {
  const NodeId handed = ast.child(ast[callee].parent, Role::argument);
  const NodeId first =
      handed != kNoNode && ast[handed].kind == K::tuple ? ast[handed].first_child : kNoNode;
  return ast[callee].text == "send" && first != kNoNode && ast[first].kind == K::string &&
         is_one_of(ast.slice(first), {"\"step\"", "'step'"});
}

bool names_gradients(const Ast& ast, NodeId call) {
  return std::ranges::any_of(targets_of(ast, call), [](std::string_view target) {
    return is_one_of(target, {"grads", "grad", "gradients"});
  });
}

bool replaces_argument(const Ast& ast, NodeId call) {
  const std::vector<std::string_view> targets = targets_of(ast, call);
  for (NodeId c = ast.child(call, Role::argument); c != kNoNode; c = ast[c].next) {
    if (ast[c].kind == K::name && !has_word(ast[c].text, {"key", "keys", "rng", "rngs"}) &&
        std::ranges::find(targets, ast.slice(c)) != targets.end())
      return true;
  }
  return false;
}

}  // namespace stallscope
