#include "source/guards/guards.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "source/guards/kept_tables.h"
#include "source/guards/kept_values.h"
#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/names/training_state.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// `if mask.sum() > 0: ... else: loss = torch.tensor(0.0)`, `if num_valid == 0: return
/// torch.tensor(0.0)`: a constant for when there is nothing to work on.
bool is_fallback(const Ast& ast, NodeId condition, NodeId branch, bool negated) {
  const std::string_view text = ast.slice(condition);
  const NodeId left = ast.child(condition, Role::left);
  const bool counted = left != kNoNode && ast[left].kind == K::name &&
                       starts_with_any(ast[left].text, {"num_", "n_", "count"});
  bool asks = negated && text.ends_with(".any()");
  if (ast[condition].kind == K::compare)
    asks = negated ? text.ends_with("> 0") || text.ends_with(">= 0") || text.ends_with("!= 0")
                   : text.ends_with("== 0") || text.ends_with("< 1") || text.ends_with("<= 0");
  if (!asks || (!counted && !contains_any(text, {".sum(", ".max(", ".any(", "len(", ".numel(",
                                                 ".shape[0]", ".size(0)", ".nelement("})))
    return false;
  NodeId only = branch;
  while (only != kNoNode && (ast[only].kind == K::block || ast[only].kind == K::else_))
    only = ast[only].first_child;
  if (only == kNoNode || (only != branch && ast[only].next != kNoNode)) return false;
  std::string made(ast.slice(only).substr(0, 160));
  std::erase_if(made, [](unsigned char c) { return std::isspace(c) != 0; });
  return contains_any(made, {"tensor(0", "tensor([0"});
}

/// `if self.flash: flash_attn_func(q, k, v)`: its `else` stands in where that cannot run.
bool asks_for_flash(const Ast& ast, NodeId condition, NodeId branch) {
  if (!contains_any(ast.slice(condition), {"flash", "xformers"})) return false;
  for (NodeId id = branch; id != kNoNode && id < ast[branch].end; ++id) {
    if (ast[id].kind != K::call) continue;
    const std::string_view name = callee_name(ast, id);
    if (name.starts_with("flash_attn") || name == "memory_efficient_attention") return true;
  }
  return false;
}

/// `step % display_freq == 0`: what goes backward or clears gradients there takes no step.
bool is_to_report(std::string_view condition) {
  return contains_any(lower(condition), {"log_", "_log", "disp_", "display", "print", "eval",
                                         "valid", "report", "save_", "_save"});
}

/// C++: `static const int units = count_units();` is worked out once.
bool is_made_once(const Ast& ast, NodeId assignment) {
  if (ast.grammar != Grammar::cuda || ast[assignment].first_byte == 0) return false;
  const size_t before = ast.source.find_last_of(";{}\n", ast[assignment].first_byte - 1);
  const size_t from = before == std::string_view::npos ? 0 : before + 1;
  const std::string_view words = ast.source.substr(from, ast[assignment].first_byte - from);
  const size_t first = words.find_first_not_of(" \t");
  return first != std::string_view::npos &&
         starts_with_any(words.substr(first), {"static ", "thread_local "});
}

}  // namespace

uint32_t Guards::around(NodeId node) const {
  if (around_.empty()) around_.resize(ast_.size(), kNotAsked);
  if (around_[node] != kNotAsked) return around_[node];
  const NodeId parent = ast_[node].parent;
  uint32_t guards = 0;
  if (parent != kNoNode && ast_[parent].kind != K::function && ast_[parent].kind != K::class_) {
    const bool loop = ast_[parent].kind == K::for_ || ast_[parent].kind == K::while_;
    // What leaves a loop around this one says nothing about how often this one runs.
    guards = by_parent(parent, node) | (around(parent) & ~(loop ? +kGuardLeavesLoop : 0u));
  }
  return around_[node] = guards;
}

/// TEST_CASE("...") { ... }: by structure a call, and a block behind it.
bool Guards::is_body_of_test(NodeId block) const {
  if (ast_.grammar != Grammar::cuda || ast_[block].kind != K::block) return false;
  const NodeId parent = ast_[block].parent;
  NodeId before = block - 1;  // the last part of what stands before it
  while (before != parent && ast_[before].parent != parent) before = ast_[before].parent;
  return before != parent && ast_[before].kind == K::call &&
         is_test_macro(callee_name(ast_, before));
}

Guards::Guards(const Ast& ast, const Outline& outline, const Inference& inference)
    : ast_(ast), outline_(outline), inference_(inference) {
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind == K::global) globals_.push_back(id);
    if (ast[id].kind != K::attribute || ast[id].role != Role::left) continue;
    const NodeId value = ast.child(ast[id].parent, Role::right);
    if (value == kNoNode || ast[ast[id].parent].kind != K::assign || ast.slice(value) != "None")
      continue;
    const NodeId function = ast.ancestor(id, K::function);
    if (function != kNoNode && ast[function].text != "__init__") emptied_.push_back(id);
  }
}

/// What the node around `below` adds to the guards.
uint32_t Guards::by_parent(NodeId at, NodeId below) const {
  const Node& self = ast_[at];
  const Role role = ast_[below].role;
  switch (self.kind) {
    case K::if_:
    case K::elif_:
    case K::conditional: {
      // case UNINITIALIZED: of what is made when it is first wanted
      if (ast_.grammar == Grammar::cuda && self.kind == K::elif_ &&
          ast_.slice(at).starts_with("case") &&
          contains_any(ast_.slice(at).substr(0, 60), {"uninit"}))
        return kGuardCached;
      NodeId condition = ast_.child(at, Role::condition);
      if (condition == kNoNode || role == Role::condition) return 0;
      const bool negated = role == Role::alternative && ast_[below].kind != K::elif_;
      if (role == Role::alternative && ast_[below].kind == K::elif_) return 0;
      uint32_t found = of_condition(condition, negated);
      // `x if isinstance(x, Tensor) else torch.tensor(x)`: callers can hand a tensor in.
      if (self.kind == K::conditional && negated && ast_.slice(condition).ends_with("Tensor)"))
        found |= kGuardNotGiven;
      // if not torch.is_tensor(timesteps): timesteps = torch.tensor([timesteps], device=x.device)
      if (role == Role::consequence && ast_[condition].kind == K::unary &&
          tested_for_tensor(ast_, ast_[condition].first_child) != kNoNode)
        found |= kGuardNotGiven;
      // `stack(losses).sum() if losses else torch.tensor(0.0)`: for when there are none.
      const Kind tested = inference_.at(condition).kind;
      if (self.kind == K::conditional && negated && ast_[condition].kind == K::name &&
          (tested == Kind::list || tested == Kind::tensor_list || tested == Kind::host_tensors))
        found |= kGuardErrorPath;
      if ((role == Role::consequence || negated) && (keeps_value(ast_, condition, below, negated) ||
                                                     fills_table(ast_, condition, below, negated)))
        found |= kGuardCached;
      if (role == Role::consequence && switches_itself_off(condition, below))
        found |= kGuardInterval;
      if (role == Role::consequence && runs_first_time(ast_, condition, below, negated))
        found |= kGuardOutsideStep;
      if ((role == Role::consequence || negated) && is_fallback(ast_, condition, below, negated))
        found |= kGuardErrorPath;
      if (negated && ast_[below].kind == K::else_ &&
          asks_for_flash(ast_, condition, ast_.child(at, Role::consequence)))
        found |= kGuardErrorPath;
      if ((found & kGuardInterval) != 0 &&
          (repeats_as_often(condition, below) ||
           (!is_to_report(ast_.slice(condition)) && accumulates(below))))
        found &= ~kGuardInterval;
      if ((role == Role::consequence || ast_[below].kind == K::else_) && ends_in_error(below))
        found |= kGuardErrorPath;
      if (role == Role::consequence && gives_up(condition, below)) found |= kGuardErrorPath;
      if ((role == Role::consequence || negated) && leaves_loop(below)) found |= kGuardLeavesLoop;
      return found;
    }
    case K::boolean:
      // `step % 10 == 0 and print(loss.item())`
      if (role == Role::right && self.text != "or" && self.text != "||") {
        NodeId left = ast_.child(at, Role::left);
        if (left != kNoNode) return of_condition(left);
      }
      return role == Role::right && is_asked_once(at) ? +kGuardInterval : 0u;
    case K::except_:
    case K::raise:
      return kGuardErrorPath;
    case K::assert_:
      return role == Role::value ? +kGuardErrorPath : 0u;
    case K::call:
      if (role == Role::argument && is_debugging_macro(at)) return kGuardDebug;
      if (ast_[below].kind == K::lambda) return of_cond(at, below);
      return is_message(at, below) || (role == Role::argument && is_warning(at)) ? +kGuardErrorPath
                                                                                 : 0u;
    case K::assign:
      return role == Role::right && is_made_once(ast_, at) ? kGuardCached | kGuardOutsideStep : 0u;
    case K::while_: {
      const NodeId condition = ast_.child(at, Role::condition);
      return condition != kNoNode && role != Role::condition &&
                     is_about_viewer(ast_, ast_.slice(condition).substr(0, 60))
                 ? +kGuardDebug
                 : 0u;
    }
    case K::with_:
      return role == Role::body ? of_with(at) : 0u;
    case K::block:
    case K::module:
      return is_body_of_test(below) ? +kGuardTest : left_early(below);
    case K::other:
      return ast_.grammar == Grammar::cuda ? of_macro(at, role == Role::alternative) : 0u;
    default:
      return 0;
  }
}

/// `if filled or not torch.all(queue == 0): filled = True`: asked until it is so, and no more.
bool Guards::is_asked_once(NodeId either) const {
  const NodeId branch = ast_[either].parent, flag = ast_.child(either, Role::left);
  if (ast_[branch].kind != K::if_ || ast_[either].role != Role::condition || flag == kNoNode ||
      ast_[flag].kind != K::name || (ast_[either].text != "or" && ast_[either].text != "||"))
    return false;
  const NodeId body = ast_.child(branch, Role::consequence);
  for (NodeId at = body; body != kNoNode && at < ast_[body].end; ++at) {
    const NodeId left = ast_[at].kind == K::assign ? ast_.child(at, Role::left) : kNoNode;
    const NodeId right = left == kNoNode ? kNoNode : ast_.child(at, Role::right);
    if (right != kNoNode && ast_.slice(left) == ast_[flag].text &&
        is_one_of(ast_.slice(right), {"True", "true"}))
      return true;
  }
  return false;
}

/// TORCH_CHECK(n > 0, "got ", n): what is only worked out where the check fails.
bool Guards::is_message(NodeId call, NodeId argument) const {
  if (ast_.grammar != Grammar::cuda || ast_[argument].role != Role::argument ||
      ast_.child(call, Role::argument) == argument)
    return false;
  const std::string_view name = callee_name(ast_, call);
  return name.starts_with("TORCH_CHECK") || name.starts_with("TORCH_INTERNAL_ASSERT") ||
         name == "AT_ASSERTM" || name == "AT_CHECK";
}

/// C++: DEBUG_ONLY(cudaDeviceSynchronize()), D(...): macros that are empty but in a build for
/// trials.
bool Guards::is_debugging_macro(NodeId call) const {
  if (ast_.grammar != Grammar::cuda) return false;
  const std::string_view name = callee_name(ast_, call);
  const bool upper =
      std::ranges::none_of(name, [](unsigned char c) { return std::islower(c) != 0; });
  return upper && (is_one_of(name, {"D", "DBG"}) || has_word(lower(name), {"debug", "dbg"})) &&
         !has_word(lower(name), {"no", "non"});
}

/// `if n > limit: logger.warning(f"... {loss.item()}")`: seldom, or nobody would read it.
bool Guards::is_warning(NodeId call) const {
  if (ast_.grammar != Grammar::python) return false;
  bool warns = is_one_of(callee_name(ast_, call),
                         {"warn", "warning", "warn_once", "warning_once", "error", "exception"});
  // log_rank("...", level=logging.ERROR)
  for (const NodeId argument : children(ast_, call))
    warns |= ast_[argument].kind == K::keyword && ast_[argument].text == "level" &&
             contains_any(ast_.slice(argument), {"error", "warn"});
  if (!warns) return false;
  for (NodeId at = ast_[call].parent; at != kNoNode && ast_[at].kind != K::function;
       at = ast_[at].parent) {
    if (ast_[at].kind == K::if_) return true;
  }
  return false;
}

/// jax.lax.cond(step % 100 == 0, lambda x: jax.debug.print(...), lambda x: None, x)
uint32_t Guards::of_cond(NodeId call, NodeId branch) const {
  if (callee_name(ast_, call) != "cond") return 0;
  const NodeId condition = ast_.child(call, Role::argument);
  if (condition == kNoNode || condition == branch) return 0;
  return of_condition(condition, ast_[condition].next != branch) & kGuardInterval;
}

uint32_t Guards::of_with(NodeId with) const {
  std::string_view head = ast_.slice(with);
  head = head.substr(0, std::min<size_t>(head.find('\n'), 80));
  // with jax.ensure_compile_time_eval(): once, when it is traced
  if (head.find("ensure_compile_time") != std::string_view::npos)
    return kGuardCached | kGuardOutsideStep;
  return head.find("eval_timer") != std::string_view::npos ? +kGuardEvaluation : 0u;
}

/// `#ifdef DEBUG`, `#ifndef NDEBUG`: what only a build for trials has.
uint32_t Guards::of_macro(NodeId at, bool alternative) const {
  std::string_view head = ast_.slice(at);
  head = head.substr(0, std::min<size_t>(head.find('\n'), 120));
  if (!head.starts_with("#")) return 0;
  const bool negated = (head.find("ndef") != std::string_view::npos ||
                        head.find('!') != std::string_view::npos) != alternative;
  if (contains_any(head, {"ndebug"})) return negated ? +kGuardDebug : 0u;
  return contains_any(head, {"debug", "profil", "timing", "trace", "verbos", "bench", "visualiz",
                             "viewer", "gui"}) &&
                 !negated
             ? +kGuardDebug
             : 0u;
}

/// `if step % n: continue` guards the statements after it in the same block.
uint32_t Guards::left_early(NodeId statement) const {
  const NodeId parent = ast_[statement].parent;
  if (early_.empty()) early_.resize(ast_.size(), kNotAsked);
  if (early_[statement] != kNotAsked) return early_[statement];
  uint32_t guards = 0;
  std::optional<NodeId> learns_last;
  for (NodeId at : children(ast_, parent)) {
    early_[at] = guards;
    if (never_passed(at)) guards |= kGuardErrorPath;
    if (ast_[at].kind != K::if_) continue;
    NodeId body = ast_.child(at, Role::consequence), condition = ast_.child(at, Role::condition);
    if (body == kNoNode || condition == kNoNode || ast_.child(at, Role::alternative) != kNoNode)
      continue;
    if (only_leaves(body)) {
      uint32_t found = of_condition(condition, true);
      if ((found & kGuardInterval) != 0) {
        if (!learns_last) learns_last = last_accumulating(parent);
        if (*learns_last > at) found &= ~kGuardInterval;
      }
      guards |= found;
    }
    // `if self.training: ...; return losses`: what follows predicts. `if self.table is not None:
    // ...; return`: what follows makes it once.
    if (returns(body)) {
      const bool own = ast_.slice(condition).find("self.") != std::string_view::npos;
      guards |= of_condition(condition, true) & (kGuardEvaluation | (own ? kGuardCached : 0u));
    }
    // `if key in self.masks: return self.masks[key]` before what makes it for the next time
    if ((only_leaves(body) || returns(body)) && fills_table(ast_, condition, parent, true))
      guards |= kGuardCached;
    // C++: `if (n == size) return;` before what makes the buffer anew
    if (ast_.grammar == Grammar::cuda && only_leaves(body) &&
        brings_up_to_date(ast_, condition, parent, true))
      guards |= kGuardCached;
  }
  return early_[statement];
}

/// raise, return, `assert False`: nothing behind them in their block runs.
bool Guards::never_passed(NodeId statement) const {
  const K kind = ast_[statement].kind;
  if (ast_.grammar != Grammar::python) return false;
  if (kind == K::assert_) {
    const NodeId condition = ast_.child(statement, Role::condition);
    return condition != kNoNode && is_one_of(ast_.slice(condition), {"False", "0"});
  }
  return kind == K::raise || kind == K::return_ || kind == K::leave;
}

bool Guards::returns(NodeId block) const {
  const NodeId last = last_child(ast_, block);
  if (last == kNoNode) return false;
  if (ast_[last].kind == K::return_) return true;
  const NodeId inner = ast_[last].kind == K::if_ ? ast_.child(last, Role::consequence) : kNoNode;
  return inner != kNoNode && returns(inner);
}

/// `if step >= max_steps: save(loss.item()); break`, but for a branch that takes the step itself.
bool Guards::leaves_loop(NodeId branch) const {
  NodeId last = branch;
  while (last != kNoNode && (ast_[last].kind == K::block || ast_[last].kind == K::else_))
    last = last_child(ast_, last);
  if (last == kNoNode) return false;
  const bool breaks = ast_[last].kind == K::leave && ast_.slice(last).starts_with("break");
  if (!breaks && ast_[last].kind != K::return_) return false;
  for (NodeId at = ast_[branch].parent; at != kNoNode && ast_[at].kind != K::function;
       at = ast_[at].parent) {
    if (ast_[at].kind == K::for_ || ast_[at].kind == K::while_) return !accumulates(branch);
    if (breaks && starts_with_any(ast_.slice(at), {"switch", "case", "default"})) return false;
  }
  return false;
}

bool Guards::only_leaves(NodeId block) const {
  NodeId first = ast_[block].kind == K::block ? ast_[block].first_child : block;
  if (first == kNoNode || ast_[first].next != kNoNode) return false;
  if (ast_[block].kind != K::block)
    return ast_[first].kind == K::leave || ast_[first].kind == K::return_;
  return ast_[first].kind == K::leave || (ast_[first].kind == K::return_);
}

/// state.apply_gradients(...), train_step(state, batch), agent.update(batch) of a program of JAX.
bool Guards::takes_jax_step(NodeId callee) const {
  const std::string_view name = ast_[callee].text;
  const NodeId object =
      ast_[callee].kind == K::attribute ? ast_.child(callee, Role::object) : kNoNode;
  const std::string_view whose =
      object == kNoNode ? std::string_view() : last_component(ast_.slice(object));
  // update_config() of an agent is none
  const bool updates = is_one_of(name, {"update", "learn", "train"}) &&
                       (is_learning_call(whose, "update") || is_optimizer_name(whose));
  const bool steps =
      is_one_of(name, {"apply_gradients", "apply_updates"}) || names_training_step(name) || updates;
  return steps && ast_.grammar == Grammar::python && holds_text(ast_.source, "jax");
}

/// `if step % n == 0: for _ in range(n): update(...)`: as often as in each step, only later.
bool Guards::repeats_as_often(NodeId condition, NodeId branch) const {
  for (NodeId id = branch; id < ast_[branch].end; ++id) {
    const NodeId over = ast_[id].kind == K::for_ ? ast_.child(id, Role::right) : kNoNode;
    if (over == kNoNode || ast_[over].kind != K::call || callee_name(ast_, over) != "range")
      continue;
    const NodeId times = ast_.child(over, Role::argument);
    const std::string_view asked = ast_.slice(condition);
    if (times == kNoNode || ast_[times].next != kNoNode || ast_[times].kind == K::number) continue;
    const size_t at = asked.find("% " + std::string(ast_.slice(times)));
    if (at != std::string_view::npos) return true;
  }
  return false;
}

/// Gradient accumulation looks like a log interval, but what it guards is the step itself.
bool Guards::accumulates(NodeId branch) const {
  for (NodeId id = branch; id < ast_[branch].end; ++id) {
    if (ast_[id].kind != K::call) continue;
    NodeId callee = ast_.child(id, Role::callee);
    if (callee == kNoNode) continue;
    // C++: pushGradients(), all_reduce_grads(), fetchParams(), train_critic()
    if (ast_.grammar == Grammar::cuda &&
        (contains_any(ast_[callee].text, {"grad", "params"}) ||
         has_word(lower(snake_case(ast_[callee].text)), {"train", "optimize"})) &&
        ast_[callee].text != "grad" &&
        !contains_any(ast_[callee].text, {"log", "print", "norm", "check", "dump", "save", "eval",
                                          "is_train", "requires_grad"}))
      return true;
    if (takes_jax_step(callee)) return true;
    if (ast_[callee].kind != K::attribute) continue;
    if (ast_[callee].text == "backward" || ast_[callee].text == "zero_grad") return true;
    NodeId object = ast_.child(callee, Role::object);
    if (ast_[callee].text == "step" && object != kNoNode && is_optimizer_name(ast_.slice(object)))
      return true;
  }
  return false;
}

/// `if self.steps % n: return` before the batch is learnt from: the last statement of a block that
/// does so, 0 if none does.
NodeId Guards::last_accumulating(NodeId block) const {
  NodeId last = 0;
  for (const NodeId at : children(ast_, block)) {
    if (accumulates(at)) last = at;
  }
  return last;
}

/// C++: `if (!convert(x)) { cudaFree(y); return false; }`
bool Guards::gives_up(NodeId condition, NodeId block) const {
  const NodeId asked = ast_[condition].first_child, last = last_child(ast_, block);
  return ast_.grammar == Grammar::cuda && ast_[condition].kind == K::unary &&
         ast_[condition].text == "!" && asked != kNoNode && ast_[asked].kind == K::call &&
         last != kNoNode && ast_[last].kind == K::return_ &&
         contains_any(ast_.slice(last), {"false", "nullptr", "null", "-1"});
}

bool Guards::ends_in_error(NodeId block) const {
  const NodeId last = last_child(ast_, block);
  if (last == kNoNode) return false;
  // if __name__ == "__main__": main(); exit(0)
  const NodeId whole = ast_[block].parent;
  if (ast_[whole].kind == K::if_ && ast_.slice(whole).starts_with("if __name__ ")) return false;
  if (ast_[last].kind == K::raise) return true;
  if (ast_[last].kind == K::assert_)
    return is_one_of(ast_.slice(ast_[last].first_child), {"False", "0"});
  // return Status::kErrorUnsupportedType;
  if (ast_[last].kind == K::return_ && ast_.grammar == Grammar::cuda)
    return contains_any(ast_.slice(last), {"error", "unsupported", "failure", "failed", "invalid"});
  if (ast_[last].kind != K::call) return false;
  // C++: assert(false);
  const NodeId asserted = ast_.child(last, Role::argument);
  if (callee_name(ast_, last) == "assert" && asserted != kNoNode)
    return is_one_of(ast_.slice(asserted), {"false", "0"});
  return is_one_of(callee_name(ast_, last), {"exit", "_exit", "abort", "fail", "_assert"});
}

}  // namespace stallscope
