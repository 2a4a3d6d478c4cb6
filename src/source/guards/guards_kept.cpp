// What a condition says of what is made once and kept, or given by a caller.
#include <algorithm>

#include "source/guards/guards.h"
#include "source/names/names.h"
#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

}  // namespace

/// `what is None`, `not exists(what)`; or where `is_none` is false, the opposite.
uint32_t Guards::of_none(NodeId what, bool is_none) const {
  const std::string_view l = ast_.slice(what);
  // What earlier tokens left: the next one is being generated.
  if (!is_none)
    return contains_any(l, {"past_key", "past_kv", "layer_past", "kv_cache", "incremental_state",
                            "inference_params", "input_pos"})
               ? +kGuardOutsideStep
               : 0u;
  uint32_t guards = 0;
  // Without a stream to prefetch on, the program runs on the CPU.
  if (contains_any(l, {"stream"})) guards |= kGuardCpuBranch;
  // `if self.mask is None: self.mask = ...` runs once.
  if ((ast_[what].kind == K::attribute || ast_[what].kind == K::subscript ||
       contains_any(l, {"cache", "_buf", "->"}) ||
       (ast_.grammar == Grammar::cuda &&
        (l.ends_with('_') || l.starts_with("m_") || is_static(what)))) &&
      is_kept(what))
    guards |= kGuardCached;
  if (is_set_for_good(what)) guards |= kGuardOutsideStep;
  if (ast_[what].kind != K::name) return guards;
  if (l.starts_with('_') || is_declared_global(what) || is_looked_up(what)) guards |= kGuardCached;
  if (is_first_step(what)) guards |= kGuardOutsideStep;
  if (has_default(what)) guards |= kGuardNotGiven;
  return guards;
}

/// hasattr(self, "mask"), hasattr(attend, "mask") of the function itself: where what was made is
/// kept. hasattr(model, "module") asks for something else, as does hasattr(self.optimizer, "clip")
/// where the function puts nothing of that name there.
bool Guards::keeps_by_name(NodeId call) const {
  const NodeId owner = ast_.child(call, Role::argument);
  if (owner == kNoNode) return false;
  const std::string_view name = ast_.slice(owner);
  const NodeId around = outline_.functions[outline_.function_of[call]];
  if (is_one_of(name, {"self", "cls"})) return true;
  if (ast_[around].kind != K::function) return false;
  if (name == ast_[around].text) return true;
  if (!starts_with_any(name, {"self.", "cls."})) return false;
  for (NodeId at = around; at < ast_[around].end; ++at) {
    const NodeId of = ast_[at].kind == K::attribute && ast_[at].role == Role::left
                          ? ast_.child(at, Role::object)
                          : kNoNode;
    if (of != kNoNode && ast_.slice(of) == name) return true;
    if (ast_[at].kind == K::call &&
        is_one_of(callee_name(ast_, at), {"setattr", "register_buffer"}))
      return true;
  }
  return false;
}

/// C++: mask.defined(), of what is no argument of the function: made when it is first wanted.
bool Guards::asks_whether_made(NodeId callee) const {
  if (ast_.grammar != Grammar::cuda || ast_[callee].kind != K::attribute ||
      !is_one_of(ast_[callee].text, {"defined", "has_value", "is_initialized"}))
    return false;
  const NodeId object = ast_.child(callee, Role::object);
  return object != kNoNode && !(ast_[object].kind == K::name && is_parameter(object));
}

/// The argument of its function that `name` names, or kNoNode.
NodeId Guards::parameter_of(NodeId name) const {
  const NodeId function = ast_.ancestor(name, K::function);
  const NodeId parameters = function == kNoNode ? kNoNode : ast_.child(function, Role::parameters);
  if (parameters == kNoNode) return kNoNode;
  for (NodeId p : children(ast_, parameters)) {
    if (ast_[p].text == ast_[name].text) return p;
  }
  return kNoNode;
}

bool Guards::is_parameter(NodeId name) const {
  return parameter_of(name) != kNoNode;
}

/// Whether `name` is an argument of its function that may be left out.
bool Guards::has_default(NodeId name) const {
  const NodeId parameter = parameter_of(name);
  return parameter != kNoNode && ast_.child(parameter, Role::value) != kNoNode;
}

/// Whether what was found missing is made good for the next time: assigned in this function, or by
/// a method for that.
bool Guards::is_kept(NodeId what) const {
  if (ast_.grammar != Grammar::python) return true;
  const NodeId function = ast_.ancestor(what, K::function);
  if (function == kNoNode) return true;
  const std::string_view text = ast_.slice(what);
  for (NodeId at = function; at < ast_[function].end; ++at) {
    if (ast_[at].kind == K::call) {
      const std::string_view name = callee_name(ast_, at);
      if (contains_any(name, {"init", "build", "make", "create", "set", "update", "cache",
                              "compute", "register", "prepare", "setup", "load"}))
        return true;
    }
    if (ast_[at].role == Role::left && at != what && ast_.slice(at) == text &&
        ast_[ast_[at].parent].kind != K::compare)
      return true;
    if (ast_[at].kind == K::tuple && ast_[at].role == Role::left &&
        ast_.slice(at).find(text) != std::string_view::npos)
      return true;
  }
  return false;
}

/// `if not self.step: self.step = jax.jit(update)`: whether what a condition finds missing is made
/// under it. `if not self.queued: self.queued = True` may ask for each step's.
bool Guards::is_made_below(NodeId what) const {
  const NodeId test = ast_.ancestor(what, K::if_);
  const NodeId body = test == kNoNode ? kNoNode : ast_.child(test, Role::consequence);
  if (body == kNoNode || body < what) return false;
  for (NodeId at = body; at < ast_[body].end; ++at) {
    const NodeId assign = ast_[at].parent;
    if (ast_[at].role != Role::left || ast_[assign].kind != K::assign ||
        ast_.slice(at) != ast_.slice(what))
      continue;
    const NodeId made = ast_.child(assign, Role::right);
    return made != kNoNode && ast_[made].kind == K::call;
  }
  return false;
}

/// Whether a function is a method of a module or a trainer.
bool Guards::is_of_lasting_class(NodeId function) const {
  const NodeId klass = ast_.ancestor(function, K::class_);
  if (klass == kNoNode) return false;
  const std::string_view text = ast_.slice(klass);
  return contains_any(text.substr(0, text.find(':')),
                      {"module", "trainer", "model", "loss", "optim"});
}

/// Whether an attribute that was found to be None is set in this function and, but for __init__, is
/// None nowhere again: `if self.vocabulary is None: self.vocabulary = tokens.max().item()` of what
/// stays from step to step. Objects that each step makes anew hold properties so, too.
bool Guards::is_set_for_good(NodeId what) const {
  const NodeId function = ast_.ancestor(what, K::function);
  const std::string_view name = ast_.slice(what);
  if (ast_.grammar != Grammar::python || ast_[what].kind != K::attribute || function == kNoNode ||
      !name.starts_with("self.") || !is_of_lasting_class(function) ||
      std::ranges::any_of(emptied_, [&](NodeId at) { return ast_.slice(at) == name; }))
    return false;
  for (NodeId at = function; at < ast_[function].end; ++at) {
    const NodeId to = ast_[at].kind == K::assign ? ast_.child(at, Role::left) : kNoNode;
    if (to != kNoNode && ast_[to].kind == K::attribute && ast_.slice(to) == name) return true;
  }
  return false;
}

/// C++: static T* scratch = nullptr;
bool Guards::is_static(NodeId name) const {
  const uint32_t function = outline_.function_of[name];
  const NodeId value = inference_.definition(function, ast_[name].text, name);
  const NodeId made = value == kNoNode ? kNoNode : ast_[value].parent;
  return made != kNoNode && ast_[made].kind == K::assign && stallscope::is_static(ast_, made);
}

/// C++: if (!scratch) cudaMalloc(&scratch, n); of what stays: a static, or a member.
bool Guards::is_made_behind(NodeId name) const {
  const std::string_view text = ast_[name].text;
  const NodeId branch = ast_.ancestor(name, K::if_);
  const NodeId body = branch == kNoNode ? kNoNode : ast_.child(branch, Role::consequence);
  if (ast_.grammar != Grammar::cuda || body == kNoNode ||
      !(text.ends_with('_') || text.starts_with("m_") || is_static(name)))
    return false;
  const std::string_view made = ast_.slice(body);
  return made.find("&" + std::string(text)) != std::string_view::npos ||
         made.find(std::string(text) + " = ") != std::string_view::npos;
}

/// step = compiled.get(key), and compiled[key] is assigned when it is None.
bool Guards::is_looked_up(NodeId name) const {
  const uint32_t function = outline_.function_of[name];
  const NodeId value = inference_.definition(function, ast_[name].text, name);
  if (value == kNoNode || ast_[value].kind != K::call || callee_name(ast_, value) != "get")
    return false;
  const NodeId table = ast_.child(ast_.child(value, Role::callee), Role::object);
  if (table == kNoNode) return false;
  // input._caches.get(key): kept with what each batch brings
  NodeId root = table;
  while (ast_[root].kind == K::attribute && ast_.child(root, Role::object) != kNoNode)
    root = ast_.child(root, Role::object);
  if (root != table && ast_[root].text != "self" && is_parameter(root)) return false;
  const NodeId body = outline_.functions[function];
  for (NodeId at = value; at < ast_[body].end; ++at) {
    if (ast_[at].kind == K::subscript && ast_[at].role == Role::left &&
        ast_.slice(ast_.child(at, Role::object)) == ast_.slice(table))
      return true;
  }
  return false;
}

/// Whether a variable is None before the loop of steps around it, and the branch behind `if name is
/// None:` or the other one of `if name:` sets it: `mean = None; for x in batches: if mean is None:
/// mean = loss.item()`.
bool Guards::is_first_step(NodeId name) const {
  const uint32_t loop = outline_.loop_of[name];
  const NodeId branch = ast_.ancestor(name, K::if_);
  if (loop == kNone || branch == kNoNode ||
      !contains_any(ast_.slice(outline_.loops[loop]), {"backward(", ".step("}))
    return false;
  const bool otherwise = ast_.child(branch, Role::condition) == name;
  const NodeId body = ast_.child(branch, otherwise ? Role::alternative : Role::consequence);
  const NodeId before =
      inference_.definition(outline_.function_of[name], ast_[name].text, outline_.loops[loop]);
  if (body == kNoNode || before == kNoNode || ast_.slice(before) != "None") return false;
  for (NodeId at = body; at < ast_[body].end; ++at) {
    const NodeId left = ast_[at].kind == K::assign ? ast_.child(at, Role::left) : kNoNode;
    if (left != kNoNode && ast_[left].kind == K::name && ast_[left].text == ast_[name].text)
      return true;
  }
  return false;
}

/// Whether the function of `name` says `global NAME`: what it assigns stays.
bool Guards::is_declared_global(NodeId name) const {
  const NodeId function = ast_.ancestor(name, K::function);
  if (function == kNoNode) return false;
  return std::ranges::any_of(globals_, [&](NodeId at) {
    return ast_.inside(at, function) &&
           ast_.slice(at).find(ast_[name].text) != std::string_view::npos;
  });
}

/// Whether some function says `global NAME`: what the module gives the name is not all it ever is.
bool Guards::is_set_by_function(std::string_view name) const {
  return std::ranges::any_of(globals_,
                             [&](NodeId at) { return holds_identifier(ast_.slice(at), name); });
}

}  // namespace stallscope
