#include "source/extract/step_evidence.h"

#include <string_view>
#include <unordered_set>

#include "source/extract/device_work.h"
#include "source/names/roles.h"
#include "source/names/training_state.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// Functions whose call is one training step's update.
const std::unordered_set<std::string_view> kUpdateFunctions = {
    "optax.apply_updates", "equinox.apply_updates", "torchopt.apply_updates",
    "torch_xla.core.xla_model.optimizer_step"};

/// torch.autograd.grad(loss, list(model.parameters())): the gradient that training takes; those of
/// inputs are penalties, forces and residuals within a forward pass.
bool asks_for_parameters(const Ast& ast, NodeId call) {
  unsigned position = 0;
  for (NodeId c : children(ast, call)) {
    if (ast[c].role != Role::argument) continue;
    const bool keyword = ast[c].kind == K::keyword;
    if (keyword ? ast[c].text == "inputs" : position++ == 1)
      return contains_any(ast.slice(c), {"param", "weights"});
  }
  return false;
}

/// params, opt_state, loss = step_fn(params, opt_state, batch): what takes the state of an
/// optimiser and gives something for it to keep is a step of JAX.
bool hands_on_optimizer_state(const Ast& ast, NodeId call) {
  if (ast[ast[call].parent].kind != K::assign ||
      contains_any(callee_name(ast, call),
                   {"init", "save", "checkpoint", "restore", "load", "eval", "replicate", "shard",
                    "device_put", "deepcopy", "epoch"}))
    return false;
  for (const NodeId c : children(ast, call)) {
    if (ast[c].role == Role::argument && ast[c].kind == K::name &&
        is_one_of(ast[c].text, {"opt_state", "optimizer_state", "optim_state"}))
      return true;
  }
  return false;
}

/// for i in range(n): state = self._step(graph, state), of a function of this file that JAX
/// compiles: each pass of such a loop is a step of a solver, a sampler or a simulation.
bool carries_through_compiled(const Ast& ast, const Inference& inference, const FileFacts& facts,
                              NodeId call, NodeId callee) {
  const uint32_t called = inference.local_function(callee);
  return called != kNone && (facts.functions[called].flags & kJitCompiled) != 0 &&
         replaces_argument(ast, call);
}

/// loss = solver.step_fn(key, batch)
bool steps_on_batch(const Ast& ast, NodeId call) {
  if (callee_name(ast, call) != "step_fn") return false;
  for (const NodeId c : children(ast, call)) {
    if (ast[c].role == Role::argument && last_component(ast.slice(c)) == "batch") return true;
  }
  return false;
}

/// sgd_kernel<<<...>>>(w, g, rate), update_weights(layer): what is left of an optimizer in C.
bool changes_weights(std::string_view name) {
  const std::string text = lower(snake_case(name));
  if (own_step(name) != OwnStep::update) return false;
  return has_word(text, {"sgd", "adam", "adamw", "rmsprop", "adagrad", "lamb"}) ||
         (has_word(text, {"update"}) &&
          has_word(text, {"weight", "weights", "param", "params", "parameters", "bias", "biases"}));
}

/// C++: layer->update(lr), by the rate that it is given.
bool updates_by_rate(const Ast& ast, NodeId callee) {
  const std::string name = lower(snake_case(ast[callee].text));
  if (!has_word(name, {"update", "apply", "step"})) return false;
  for (const NodeId c : children(ast, ast[callee].parent)) {
    const std::string given =
        ast[c].role == Role::argument ? lower(snake_case(ast.slice(c).substr(0, 80))) : "";
    if (has_word(given, {"lr"}) ||
        contains_any(given, {"learning_rate", "learn_rate", "step_size"}))
      return true;
  }
  return false;
}

/// C++: for (int i = 0; i < num_epochs; i++) { ... cublasSgemm(...); update<<<grid, block>>>(w); }:
/// who trains on all data at once has no loop over batches, and often no function that says more.
bool works_through_epoch(const Ast& ast, const Outline& outline, const FileFacts& facts,
                         NodeId call, std::string_view name) {
  const uint32_t in = outline.loop_of[call];
  const bool multiplies = name.starts_with("cublas") && contains_any(name, {"gemm", "geam"});
  const bool layer = name.starts_with("cudnn") && contains_any(name, {"backward"});
  return in != kNone && facts.loops[in].seldom &&
         (multiplies || layer || ast.child(call, Role::launch) != kNoNode);
}

/// Node::backpropagate(leaf, value), node->backpropagate(value): up a search tree, no gradient.
bool goes_up_tree(const Ast& ast, NodeId callee) {
  if (ast[callee].text.find("propagate") == std::string_view::npos) return false;
  const auto names_node = [&](NodeId id) {
    return id != kNoNode && contains_any(lower(ast.slice(id)), {"node", "leaf", "leaves", "root"});
  };
  return names_node(ast.child(callee, Role::object)) ||
         names_node(ast.child(ast[callee].parent, Role::argument));
}

}  // namespace

Evidence StepEvidence::of_method(NodeId callee) const {
  const std::string_view name = ast_[callee].text;
  NodeId object = ast_.child(callee, Role::object);
  std::string_view receiver = object == kNoNode ? std::string_view() : ast_.slice(object);
  if (receiver.size() > 200) receiver = receiver.substr(receiver.size() - 200);
  if (name == "backward" || name == "manual_backward") {
    return receiver.starts_with("super") || receiver == "ctx" ? Evidence::none : Evidence::backward;
  }
  if (name == "optimizer_step" || name == "apply_gradients") return Evidence::step;
  // loss = engine.train_batch(batches)
  if (name == "train_batch" && names_.uses("deepspeed")) return Evidence::step;
  if (ast_.grammar == Grammar::cuda) {
    const OwnStep own = own_step(name);
    if (own == OwnStep::backward)
      return goes_up_tree(ast_, callee) ? Evidence::none : Evidence::backward;
    // auto optimizer = torch::optim::AdamW(parameters, options): made there, not stepped
    const bool made = ast_.slice(callee).find("optim::") != std::string_view::npos;
    if (own == OwnStep::update && !made && is_optimizer_name(receiver)) return Evidence::step;
    if (!made && outline_.loop_of[ast_[callee].parent] != kNone && updates_by_rate(ast_, callee))
      return Evidence::step;
  }
  if (name == "step") {
    const std::string_view last = receiver.substr(receiver.find_last_of(".>") + 1);
    // self.solver_p.step(output, s, x): of a differential equation, or of one sample
    const NodeId closure = ast_.child(ast_[callee].parent, Role::argument);
    if (contains_any(last, {"solver"}) && closure != kNoNode && ast_[closure].next != kNoNode)
      return Evidence::none;
    if (object != kNoNode && inference_.at(object).kind == Kind::optimizer) return Evidence::step;
    return is_optimizer_name(last) ? Evidence::step : Evidence::none;
  }
  if (name == "update" && is_optimizer_name(receiver) && names_.uses_jax()) return Evidence::step;
  return Evidence::none;
}

bool StepEvidence::only_looks_at_gradients(uint32_t function) const {
  if (ast_.grammar != Grammar::python || function == 0 || names_.uses_jax()) return false;
  const std::string_view body = ast_.slice(outline_.functions[function]);
  const auto has = [&](std::string_view text) { return body.find(text) != body.npos; };
  return (has(".requires_grad_(") || has("requires_grad=True")) && has(".grad") &&
         !contains_any(ast_.source, {"optim", "zero_grad"});
}

bool StepEvidence::hands_to_solver(uint32_t function) const {
  return function != 0 && names_.uses("scipy") &&
         contains_any(ast_.slice(outline_.functions[function]),
                      {"= minimize(", "return minimize(", "optimize.minimize(", "fmin_"});
}

Evidence StepEvidence::of(NodeId call, NodeId callee) const {
  const Evidence found = judged(call, callee);
  return found != Evidence::none && names_.uses_jax() && gradients_.is_in_kept_lambda(call)
             ? Evidence::none
             : found;
}

Evidence StepEvidence::judged(NodeId call, NodeId callee) const {
  const std::string_view name = ast_[callee].text;
  if (ast_[callee].kind == K::attribute) {
    const Evidence found = of_method(callee);
    if (found != Evidence::none) return found;
  }
  if (ast_.grammar == Grammar::cuda && ast_[callee].kind == K::name &&
      outline_.loop_of[call] != kNone) {
    // C programs name their own: gpt2_backward(), model_update(), adam_step().
    if (name.ends_with("_update") || name.ends_with("_optimizer_step") || changes_weights(name))
      return Evidence::step;
    if (own_step(name) == OwnStep::backward && !goes_up_tree(ast_, callee))
      return Evidence::backward;
  }
  if (ast_.grammar == Grammar::cuda && works_through_epoch(ast_, outline_, facts_, call, name))
    return Evidence::step;
  if (names_.uses_jax() && updates_own_state(ast_, call)) return Evidence::backward;
  // p_train_step = jax.pmap(step_fn) of a function that is handed in; not, in a loop over epochs,
  // params, opt_state, loss = train_epoch(params, opt_state, data)
  const uint32_t loop = outline_.loop_of[call];
  if (names_.uses_jax() && loop != kNone && !(facts_.loops[loop].seldom && names_epoch(name)) &&
      (contains_any(name, {"train_step", "training_step", "update_step"}) ||
       (ast_[callee].kind == K::attribute && names_training_step(name)) ||
       steps_trainer(ast_, call) || hands_on_optimizer_state(ast_, call) ||
       replaces_training_state(ast_, call) || steps_on_batch(ast_, call) ||
       carries_through_compiled(ast_, inference_, facts_, call, callee)))
    return Evidence::backward;
  const Dotted& path = names_.resolve(callee);
  // value_and_grad = jax.jit(jax.value_and_grad(loss)): the name's own calls, not JAX's of that
  // name
  const bool kept =
      !path.imported && gradients_.contains(name) && !names_epoch(name);  // of all its steps
  if (kept || (path.imported && gradients_.is_called(call, path)))
    return gradients_.is_in_kept_lambda(call) ? Evidence::none : Evidence::backward;
  if (path.imported) {
    if (kUpdateFunctions.contains(path.path)) return Evidence::step;
    if (path.path == "torch.autograd.backward") return Evidence::backward;
    if (path.path == "torch.autograd.grad" && asks_for_parameters(ast_, call))
      return Evidence::backward;
  }
  return Evidence::none;
}

}  // namespace stallscope
