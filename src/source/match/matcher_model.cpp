// Matchers for what a model or loop computes in a roundabout way.
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "source/match/matcher.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// Whether a slice of `id`'s parent takes the first elements: x[:k] or x[-k:].
bool is_leading_slice(const Ast& ast, NodeId subscript) {
  for (NodeId index : children(ast, subscript)) {
    if (ast[index].role != Role::index) continue;
    NodeId slice = ast[index].kind == K::slice ? index : kNoNode;
    if (slice == kNoNode) continue;
    std::string_view text = ast.slice(slice);
    if (text.starts_with(':') && text.size() > 1 && text != "::-1" && text != ":-1") return true;
  }
  return false;
}

}  // namespace

std::map<uint32_t, std::vector<NodeId>> calls_by_function(const FileView& file) {
  std::map<uint32_t, std::vector<NodeId>> out;
  for (NodeId id = 1; id < file.ast.size(); ++id) {
    if (file.ast[id].kind == K::call) out[file.outline.function_of[id]].push_back(id);
  }
  return out;
}

/// Whether of `value` only the first elements are taken: value[:k], value.narrow(-1, 0, k), C++'s
/// value.slice(-1, 0, k).
bool is_cut_short(const Ast& ast, NodeId value) {
  const NodeId above = ast[value].parent;
  if (above == kNoNode || ast[value].role != Role::object) return false;
  // of a sort: sorted.values[..., :k]
  if (ast[above].kind == K::attribute && is_one_of(ast[above].text, {"values", "indices"}))
    return is_cut_short(ast, above);
  if (ast[above].kind == K::subscript) return is_leading_slice(ast, above);
  const NodeId call = ast[above].kind == K::attribute ? ast[above].parent : kNoNode;
  if (call == kNoNode || ast[call].kind != K::call || ast[above].role != Role::callee) return false;
  // value.index({Slice(None, k)}), value.index({"...", Slice(0, k)})
  if (ast[above].text == "index") {
    const NodeId places = ast.child(call, Role::argument);
    if (places == kNoNode || ast[places].kind != K::list) return false;
    for (const NodeId place : children(ast, places)) {
      const NodeId from = ast[place].kind == K::call && callee_name(ast, place) == "Slice"
                              ? ast.child(place, Role::argument)
                              : kNoNode;
      if (from != kNoNode && ast[from].next != kNoNode &&
          (ast.slice(from) == "0" || ast.slice(from).ends_with("None")) &&
          !ast.slice(ast[from].next).ends_with("None"))
        return true;
    }
    return false;
  }
  if (ast[above].text != "narrow" && ast[above].text != "slice") return false;
  const NodeId dimension = ast.child(call, Role::argument);
  const NodeId start = dimension == kNoNode ? kNoNode : ast[dimension].next;
  return start != kNoNode && ast[start].next != kNoNode &&
         (ast.slice(start) == "0" || ast.slice(start).ends_with("nullopt"));
}

/// x.sort(descending=True) of what nothing else is known of: lists are sorted in reverse, so it is
/// a tensor, or a frame of Polars.
bool says_tensor(const FileView& file, NodeId sort) {
  if (!file.names.uses("torch") || file.names.uses("polars") ||
      file.inference.at(sort).kind != Kind::unknown)
    return false;
  for (NodeId c : children(file.ast, sort)) {
    if (file.ast[c].kind == K::keyword && file.ast[c].text == "descending") return true;
  }
  return false;
}

/// x.sort()[0][:k], sorted(x)[:k], torch.sort(x) then [:k]: topk does less work.
void find_sort_then_take(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind != K::call) continue;
    std::string_view name = callee_name(ast, id);
    if (name != "sort" && name != "argsort" && name != "sorted") continue;
    const Value v = says_tensor(file, id) ? likely(Kind::device_tensor) : file.inference.at(id);
    // XLA sorts in the compiled step, without a launch of its own.
    if (v.kind == Kind::jax_array || v.has(kJax)) continue;
    const bool python = name == "sorted" && ast[ast.child(id, Role::callee)].kind == K::name;
    if (!python && !v.is_device() && v.kind != Kind::tensor_list) continue;
    NodeId result = id;
    // std::get<0>(x.sort())
    if (ast.grammar == Grammar::cuda && ast[ast[id].parent].kind == K::call &&
        ast[id].role == Role::argument && callee_name(ast, ast[id].parent) == "get")
      result = ast[id].parent;
    NodeId at = ast[result].parent;
    bool taken = is_cut_short(ast, result);
    for (NodeId below = result;
         at != kNoNode && ast[at].kind == K::subscript && ast[below].role == Role::object;
         below = at, at = ast[at].parent) {
      taken |= is_cut_short(ast, below);
    }
    if (!taken && !python && at != kNoNode && ast[at].kind == K::assign) {
      NodeId left = ast.child(at, Role::left);
      std::vector<std::string_view> names;
      if (left != kNoNode && ast[left].kind == K::name) names.push_back(ast[left].text);
      if (left != kNoNode && ast[left].kind == K::tuple) {
        for (NodeId part : children(ast, left)) names.push_back(ast[part].text);
      }
      const NodeId function = file.outline.functions[file.outline.function_of[id]];
      size_t uses = 0, slices = 0;
      for (NodeId use = ast[at].end; use < ast[function].end; ++use) {
        if (ast[use].kind != K::name || ast[use].text == "_" ||
            std::ranges::find(names, ast[use].text) == names.end())
          continue;
        ++uses;
        if (is_cut_short(ast, use)) ++slices;
      }
      taken = uses > 0 && uses == slices;
    }
    if (taken) out.push_back({id, python ? likely(Kind::list) : v, {}});
  }
}

void find_gathers_per_metric(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  for (const auto& [function, calls] : calls_by_function(file)) {
    std::vector<Match> found;
    for (NodeId id : calls) {
      if (callee_name(ast, id) != "item") continue;
      for (NodeId at = id; at < ast[id].end; ++at) {
        if (ast[at].kind != K::call) continue;
        std::string_view name = callee_name(ast, at);
        if (name == "gather" || name == "gather_for_metrics" || name == "reduce" ||
            name == "all_gather") {
          found.push_back({id, likely(Kind::device_tensor), {}});
          break;
        }
      }
    }
    if (found.size() >= 2) out.insert(out.end(), found.begin(), found.end());
  }
}

/// What X.eval() or X->eval() sets, if a call does: "X"; empty otherwise.
std::string_view set_to_evaluate(const Ast& ast, NodeId call) {
  const NodeId callee = ast.child(call, Role::callee);
  const NodeId object = callee == kNoNode ? kNoNode : ast.child(callee, Role::object);
  return object != kNoNode && ast[callee].text == "eval" ? ast.slice(object) : std::string_view();
}

void find_eval_with_grad(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  if (!holds_text(ast.source, "eval()")) return;
  for (uint32_t f = 1; f < file.facts.functions.size(); ++f) {
    const FunctionFacts& function = file.facts.functions[f];
    if ((function.flags & kStepEvidence) != 0) continue;
    if (function.class_name.empty() == false && contains_any(function.name, {"_step", "on_"}))
      continue;
    const NodeId node = file.outline.functions[f];
    NodeId whole = ast[ast[node].parent].kind == K::other ? ast[node].parent : node;
    std::string_view text = ast.slice(whole);
    if (!holds_text(text, "eval()")) continue;
    // Of a function of C++ what is set to evaluate may be what runs, whatever the function is
    // called; in Python those who call it mostly took the gradients off.
    const bool says_it = contains_any(function.name, {"eval", "valid", "test"}) ||
                         has_word(lower(snake_case(function.name)), {"val", "dev", "cv"});
    if (!says_it && ast.grammar != Grammar::cuda) continue;
    if (contains_any(text, {"no_grad", "inference_mode", "set_grad_enabled", "nogradguard",
                            "inferencemode", "backward", "volatile", "jax"}))
      continue;
    std::vector<std::string_view> evaluated;
    NodeId first_run = kNoNode;
    for (NodeId id = node; id < ast[node].end; ++id) {
      if (ast[id].kind != K::call) continue;
      if (const std::string_view set = set_to_evaluate(ast, id); !set.empty())
        evaluated.push_back(set);
      const NodeId callee = ast.child(id, Role::callee);
      if (first_run != kNoNode || callee == kNoNode || file.outline.loop_of[id] == kNone) continue;
      const NodeId object = ast.child(callee, Role::object);
      const std::string_view runs = object != kNoNode && ast[callee].text == "forward"
                                        ? ast.slice(object)
                                        : ast.slice(callee);
      const bool known =
          ast.grammar == Grammar::cuda && std::ranges::find(evaluated, runs) != evaluated.end();
      const bool likely_it = says_it && file.inference.at(id).has(kModuleOutput) &&
                             contains_any(ast.slice(callee), {"model", "net"});
      if (known || likely_it) first_run = id;
    }
    if (!evaluated.empty() && first_run != kNoNode)
      out.push_back({first_run, likely(Kind::device_tensor), {}});
  }
}

/// Where `id` stands among the branches of conditions about accumulation.
struct Accumulating {
  bool then = false, otherwise = false;
};

Accumulating accumulating_around(const Ast& ast, NodeId id) {
  Accumulating out;
  NodeId below = id;
  for (NodeId at = ast[id].parent; at != kNoNode && ast[at].kind != K::function;
       below = at, at = ast[at].parent) {
    const NodeId condition = ast[at].kind == K::if_ ? ast.child(at, Role::condition) : kNoNode;
    if (condition == kNoNode || !contains_any(ast.slice(condition), {"accum"})) continue;
    // `if accum_freq == 1:` asks for the opposite.
    const std::string_view asked = ast.slice(condition);
    const bool single =
        asked.ends_with("== 1") || asked.ends_with("<= 1") || asked.ends_with("< 2");
    ((ast[below].role == Role::alternative) != single ? out.otherwise : out.then) = true;
  }
  return out;
}

/// The loop over the micro-batches of one update around `id`, by what it counts to:
/// `for micro in range(accumulation_steps):`; kNone if there is none.
uint32_t accumulating_loop(const FileView& file, NodeId id) {
  uint32_t loop = file.outline.loop_of[id];
  while (loop != kNone) {
    const NodeId over = file.ast.child(file.outline.loops[loop], Role::right);
    if (over != kNoNode && callee_name(file.ast, over) == "range" &&
        contains_any(file.ast.slice(over), {"accum", "micro"}))
      return loop;
    loop = file.facts.loops[loop].parent;
  }
  return kNone;
}

/// Whether DDP wraps a model there.
bool replicates(std::string_view text) {
  return text.find("DistributedDataParallel") != std::string_view::npos ||
         text.find("DDP(") != std::string_view::npos;
}

/// Functions that put the reduction off, by themselves or through another one of the file that
/// does: what the helper `sync_context()` returns is no_sync().
class PutsOff {
 public:
  explicit PutsOff(const FileView& file) : file_(file) {
    for (NodeId id = 1; id < file.ast.size(); ++id) {
      const Node& node = file.ast[id];
      if ((node.kind == K::name || node.kind == K::attribute || node.kind == K::string) &&
          contains_any(node.kind == K::string ? file.ast.slice(id) : node.text,
                       {"no_sync", "grad_sync", "gradient_sync", "sync_ctx", "sync_context"}))
        add(file.outline.function_of[id]);
    }
  }

  bool has(uint32_t function, std::span<const NodeId> calls) const {
    if (functions_.empty()) return false;
    return functions_.contains(0) || functions_.contains(function) ||
           std::ranges::any_of(
               calls, [&](NodeId id) { return names_.contains(callee_name(file_.ast, id)); });
  }

  /// Whether others of the file do and this one replicates no model itself: it may run alone.
  bool may_run_alone(uint32_t function) const {
    return !functions_.empty() && !replicates(file_.ast.slice(file_.outline.functions[function]));
  }

 private:
  void add(uint32_t function) {
    functions_.insert(function);
    names_.insert(file_.facts.functions[function].name);
  }

  const FileView& file_;
  std::unordered_set<uint32_t> functions_;
  std::unordered_set<std::string_view> names_;
};

void find_accumulation_without_no_sync(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  if (!replicates(ast.source)) return;
  const PutsOff puts_off(file);
  for (const auto& [function, calls] : calls_by_function(file)) {
    if (puts_off.has(function, calls)) continue;
    NodeId backward = kNoNode;
    uint32_t micro = kNone;  // the loop over micro-batches that holds it
    bool accumulates = false;
    for (NodeId id : calls) {
      std::string_view name = callee_name(ast, id);
      if (name != "backward" && name != "step" && name != "zero_grad") continue;
      const Accumulating around = accumulating_around(ast, id);
      // `else:` of what accumulates steps behind each backward.
      if (name == "backward" && !around.otherwise) {
        backward = id;
        micro = accumulating_loop(file, id);
      }
      accumulates |= name != "backward" && (around.then || around.otherwise);
      if (name != "step" || micro == kNone) continue;
      // An update behind the loop, not in it.
      if (ast.inside(id, file.outline.loops[micro]))
        micro = kNone;
      else
        accumulates = true;
    }
    if (backward != kNoNode && accumulates && !puts_off.may_run_alone(function))
      out.push_back({backward, likely(Kind::device_tensor), {}});
  }
}

}  // namespace stallscope
