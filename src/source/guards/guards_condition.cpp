// What a condition says: its terms, the variables and the helpers of its own that it asks.
#include <string>

#include "source/guards/guards.h"
#include "source/names/names.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;
constexpr unsigned kMaxDepth = 6;  ///< of variables and helpers followed

/// is_kernel_available(seq, heads), can_use_flash(x): about sizes, not about when.
bool asks_whether_possible(std::string_view name) {
  return has_word(lower(snake_case(name)), {"available", "supported", "supports", "aligned",
                                            "compatible", "divisible", "can", "usable"});
}

}  // namespace

/// jnp.isnan(loss), torch.isinf(x).any()
bool Guards::asks_for_nan(NodeId condition) const {
  return condition != kNoNode && ast_[condition].kind == K::call &&
         contains_any(ast_.slice(ast_.child(condition, Role::callee)), {"isnan", "isinf"});
}

/// x.is_cuda(), x.device().is_cuda()
bool Guards::asks_for_device(NodeId condition) const {
  return condition != kNoNode && ast_[condition].kind == K::call &&
         callee_name(ast_, condition) == "is_cuda";
}

/// C++: `bool active = false;` of a class, which its constructors, or others, may set.
bool Guards::is_members_default(NodeId value) const {
  if (ast_.grammar != Grammar::cuda) return false;
  const NodeId declaration = ast_[value].parent;
  for (NodeId at = declaration; at != kNoNode; at = ast_[at].parent) {
    if (ast_[at].kind == K::class_) return !contains_any(ast_.slice(declaration), {"const"});
  }
  return false;
}

uint32_t Guards::of_condition(NodeId condition, bool negated, unsigned depth) const {
  if (depth > kMaxDepth) return 0;
  const Node& node = ast_[condition];
  if (node.kind == K::boolean) {
    uint32_t a = 0, b = 0;
    NodeId left = ast_.child(condition, Role::left), right = ast_.child(condition, Role::right);
    if (left != kNoNode) a = of_condition(left, negated, depth + 1);
    if (right != kNoNode) b = of_condition(right, negated, depth + 1);
    const bool either = (node.text == "or" || node.text == "||") != negated;
    // `step % n == 0 or step == last` is an interval: both sides are rare. `loss > limit or
    // isnan(loss)`: what either side asks for went wrong.
    const bool fails = !negated && (asks_for_nan(left) || asks_for_nan(right));
    const uint32_t by_one = kGuardInterval | kGuardCached | (fails ? +kGuardErrorPath : 0u);
    if (either) return (a & b) | ((a | b) & by_one);
    // `if (OPS_ON_CPU && tensor.is_cuda())`: what is on the device is taken from there.
    const bool on_device = !negated && (asks_for_device(left) || asks_for_device(right));
    return (a | b) & (on_device ? ~static_cast<uint32_t>(kGuardCpuBranch) : ~0u);
  }
  if (node.kind == K::unary && (node.text == "not" || node.text == "!")) {
    NodeId inner = node.first_child;
    return inner == kNoNode ? 0 : of_condition(inner, !negated, depth + 1);
  }
  return of_term(condition, negated, depth);
}

/// What the conditions around `return True` say.
uint32_t Guards::of_ifs_around(NodeId statement, unsigned depth) const {
  uint32_t guards = 0;
  NodeId below = statement;
  for (NodeId at = ast_[statement].parent; at != kNoNode && ast_[at].kind != K::function;
       below = at, at = ast_[at].parent) {
    const NodeId condition = ast_.child(at, Role::condition);
    if (ast_[at].kind == K::if_ && condition != kNoNode && ast_[below].role == Role::consequence)
      guards |= of_condition(condition, false, depth);
  }
  return guards;
}

uint32_t Guards::of_term(NodeId id, bool negated, unsigned depth) const {
  const Node& node = ast_[id];
  if (node.kind == K::compare) return of_compare(id, negated, depth);
  if (node.kind == K::binary && node.text == "%") {
    // `if not step % 100`
    return negated && !is_every_few(id) && !divides_no_steps(id) &&
                   inference_.at(ast_[id].first_child).kind != Kind::text
               ? +kGuardInterval
               : 0u;
  }
  // if (0) { what was tried once }; what Python calls False may be another later.
  if ((depth == 0 || ast_.grammar == Grammar::cuda) &&
      is_one_of(ast_.slice(id), {"0", "false", "False"}))
    return negated ? 0u : +kGuardDebug;
  if (node.kind == K::name) {
    uint32_t words = of_words(node.text, negated);
    if (negated && is_made_behind(id)) words |= kGuardCached;
    if (negated && is_first_step(id)) words |= kGuardOutsideStep;
    if (!negated && runs_backwards(id)) words |= kGuardEvaluation | kGuardOutsideStep;
    // const bool kTrain = false: another run trains
    const bool trains = has_word(lower(snake_case(node.text)), {"train", "training"});
    NodeId defined = inference_.definition(outline_.function_of[id], node.text, id);
    if (defined != kNoNode && defined != id)
      words |= of_condition(defined, negated, depth + 1) & (trains ? ~+kGuardDebug : ~0u);
    // constexpr bool kSync = false; SYNC = False of the whole file
    if (defined == kNoNode && !negated && !trains) {
      const NodeId constant = inference_.definition(0, node.text, ast_[0].end);
      const bool only = constant != kNoNode && !is_members_default(constant) &&
                        inference_.definition(0, node.text, ast_[constant].parent) == kNoNode &&
                        !is_set_by_function(node.text);
      if (only && is_one_of(ast_.slice(constant), {"false", "False"})) words |= kGuardDebug;
    }
    return words;
  }
  if (node.kind == K::call) {
    NodeId callee = ast_.child(id, Role::callee);
    if (callee == kNoNode) return 0;
    uint32_t guards = 0;
    const uint32_t own = inference_.own_function(callee);
    if (own != kNone && !negated && !asks_whether_possible(ast_[callee].text)) {
      const NodeId body = outline_.functions[own];
      for (NodeId at = body; at < ast_[body].end; ++at) {
        if (ast_[at].kind != K::return_) continue;
        NodeId value = ast_.child(at, Role::value);
        if (value == kNoNode) continue;
        const bool told = is_one_of(ast_.slice(value), {"True", "true"});
        const uint32_t said =
            told ? of_ifs_around(at, depth + 2) : of_condition(value, false, depth + 2);
        guards |= said & kGuardInterval;
      }
    }
    if (!negated && asks_for_interval(id)) guards |= kGuardInterval;
    std::string_view name = ast_.slice(callee);
    if (name == "bool") name = ast_.slice(id).substr(0, 200);  // not bool(finite.all().item())
    // What is done about a loss that is no number is done seldom.
    if (contains_any(name, {"isnan", "isinf", "is_nan", "is_inf"}))
      return guards | (negated ? 0u : kGuardErrorPath);
    if (contains_any(name, {"isfinite", "is_finite", "finite_mask", "all_finite"}))
      return guards | (negated ? kGuardErrorPath : 0u);
    if (contains_any(name, {"is_available"})) return guards | (negated ? kGuardCpuBranch : 0u);
    // if (std::getenv("CHECK_EVERYTHING")): who wants it sets it
    if (ast_.grammar == Grammar::cuda && is_one_of(name, {"getenv", "std::getenv"}))
      return guards | (negated ? 0u : kGuardDebug);
    if (contains_any(name, {"isenabledfor"})) return guards | (negated ? 0u : kGuardDebug);
    // A bounded queue of what the device has to do: this waits for the oldest of it.
    if (name.ends_with("queue.full")) return guards | (negated ? 0u : kGuardInterval);
    if (negated && asks_whether_made(callee)) return guards | kGuardCached;
    if (const NodeId what = asked_to_exist(ast_, id); what != kNoNode)
      return guards | of_none(what, negated);
    if (name == "hasattr") return guards | (negated && keeps_by_name(id) ? kGuardCached : 0u);
    return guards | of_words(name, negated);
  }
  if (node.kind == K::attribute)
    return of_words(ast_.slice(id), negated) | (negated && is_made_below(id) ? kGuardCached : 0u);
  // group["capturable"]
  const NodeId key = node.kind == K::subscript ? ast_.child(id, Role::index) : kNoNode;
  if (key != kNoNode && ast_[key].kind == K::string) {
    const std::string_view quoted = ast_.slice(key);
    // options["offload"] moves to the host and back in each step
    const uint32_t mask = negated ? ~0u : ~static_cast<uint32_t>(kGuardCpuBranch);
    return quoted.size() < 2 ? 0u : of_words(quoted.substr(1, quoted.size() - 2), negated) & mask;
  }
  return 0;
}

}  // namespace stallscope
