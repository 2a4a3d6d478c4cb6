// What comparisons and words in a condition say: every so many steps, on one rank, when debugging.
#include "source/guards/guards.h"

#include <algorithm>

#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// A counter of training's steps, whatever else is counted beside it; no number of them.
bool counts_steps(std::string_view text) {
  const std::string name = lower(last_component(text));
  return has_word(name, {"step", "iter", "iteration", "itr", "epoch"}) &&
         !contains_any(name, {"micro", "accum", "time", "diffusion", "inner", "sub", "max", "num"});
}

/// A loop counter by its name.
bool is_counter(std::string_view text) {
  std::string_view name = last_component(text);
  if (contains_any(name, {"micro", "accum"})) return false;  // of one step, not of steps
  // best_idx, layer_idx: what was found, or one of many in each step
  if (starts_with_any(lower(name), {"best_", "max_", "min_", "argmax", "argmin", "class_", "cls_",
                                    "label_", "anchor_", "layer_", "level_", "head_", "block_"}))
    return false;
  // optimizer_idx, view_idx: which of those that each step has
  const std::string words = lower(snake_case(name));
  if (words.ends_with("_idx") &&
      !has_word(words, {"batch", "step", "iter", "iteration", "sample", "data", "train", "update",
                        "epoch", "global", "current", "cur", "log", "img", "image"}))
    return false;
  // YOLO counts its batches in ni, LAMMPS in ago the steps since its lists of neighbours were
  // built.
  return counts_steps(text) || is_one_of(name, {"i", "it", "n", "t", "ep", "ni", "ago"}) ||
         contains_any(name,
                      {"step", "iter", "epoch", "batch_idx", "batch_i", "count", "idx", "tick",
                       "num_total", "num_seen", "n_seen", "num_print", "printed", "shown"});
}

/// C++: `n` and `element_count`, how much there is to work on; `call_count` counts.
bool is_amount(std::string_view text) {
  const std::string name = lower(snake_case(text.substr(text.find_last_of(".>") + 1)));
  return name == "n" || (has_word(name, {"count", "counts"}) &&
                         !has_word(name, {"call", "calls", "step", "steps", "iter", "iteration",
                                          "frame", "frames", "print", "log", "epoch", "batch",
                                          "update", "updates", "warn", "warning", "launch"}));
}

/// Whether a loop around `name` counts with it.
bool is_of_loop(const Ast& ast, NodeId name) {
  for (NodeId at = ast[name].parent; at != kNoNode && ast[at].kind != K::function;
       at = ast[at].parent) {
    if (ast[at].kind != K::for_) continue;
    const NodeId body = ast.child(at, Role::body);
    for (NodeId n = at + 1; n < (body == kNoNode ? ast[at].end : body); ++n) {
      if (ast[n].kind == K::name && ast[n].text == ast[name].text) return true;
    }
  }
  return false;
}

}  // namespace

bool is_about_viewer(const Ast& ast, std::string_view text) {
  // A program of C++ that has a window shows it to everybody.
  if (ast.grammar == Grammar::cuda) return false;
  std::string names = lower(snake_case(text));
  std::ranges::replace(names, '.', '_');
  return has_word(names, {"gui", "viewer"});
}

/// Whether `step % n` says 2, 3 or 4: what runs that often belongs to the step.
bool Guards::is_every_few(NodeId modulo) const {
  const NodeId by =
      ast_[modulo].first_child == kNoNode ? kNoNode : ast_[ast_[modulo].first_child].next;
  if (by == kNoNode) return false;
  if (ast_[by].kind == K::number) return is_one_of(ast_.slice(by), {"2", "3", "4"});
  // it % self.policy_freq of __init__(self, policy_freq=2)
  return ast_.grammar == Grammar::python &&
         (ast_[by].kind == K::name || ast_[by].kind == K::attribute) &&
         is_few_by_default(ast_[by].text);
}

/// Whether all functions of the file that have such a parameter, with a default, say 1 to 4.
bool Guards::is_few_by_default(std::string_view parameter) const {
  if (!few_by_default_) {
    few_by_default_.emplace();
    for (NodeId at = 1; at < ast_.size(); ++at) {
      const NodeId value = ast_[at].kind == K::parameter ? ast_.child(at, Role::value) : kNoNode;
      if (value == kNoNode) continue;
      const bool few =
          ast_[value].kind == K::number && is_one_of(ast_.slice(value), {"1", "2", "3", "4"});
      const auto [known, added] = few_by_default_->try_emplace(ast_[at].text, few);
      if (!added) known->second &= few;
    }
  }
  const auto known = few_by_default_->find(parameter);
  return known != few_by_default_->end() && known->second;
}

/// x.shape[1] % 8, seq_len % block_size: how tensors are laid out, the same in each step; `t % 10`
/// of the frames that one forward pass goes through.
bool Guards::divides_no_steps(NodeId modulo) const {
  const NodeId divided = ast_[modulo].first_child;
  if (counts_within_pass(divided)) return true;
  std::string_view text = ast_.slice(divided);
  // C++: size % 32, k % CUDA_ALIGN: whether a faster kernel may be launched
  if (ast_.grammar == Grammar::cuda && (!is_counter(text) || text == "n")) {
    const std::string by = lower(ast_.slice(ast_[divided].next));
    if (is_one_of(by, {"8", "16", "32", "64", "128", "256", "512", "1024"}) ||
        contains_any(by, {"align", "block", "stride", "warp", "tile", "thread"}))
      return true;
  }
  if (ast_[divided].kind == K::name) {
    const std::string name = lower(snake_case(text));
    if (has_word(name, {"dim", "dims", "heads", "width", "height", "channels", "seqlen", "seq"}))
      return true;
    const NodeId made = inference_.definition(outline_.function_of[divided], text, divided);
    if (made == kNoNode || made == divided) return false;
    text = ast_.slice(made);
  }
  return contains_any(text, {".shape", ".size("});
}

uint32_t Guards::of_compare(NodeId id, bool negated, unsigned depth) const {
  const Node& node = ast_[id];
  NodeId left = node.first_child, right = left == kNoNode ? kNoNode : ast_[left].next;
  if (right == kNoNode) return 0;
  // if (nullptr == p)
  if (ast_.grammar == Grammar::cuda && is_one_of(ast_.slice(left), {"nullptr", "NULL"}))
    std::swap(left, right);
  std::string_view op = node.text, text = ast_.slice(id);
  std::string_view l = ast_.slice(left), r = ast_.slice(right);
  const bool equal = op == "==" || op == "is", unequal = op == "!=" || op == "is not";
  uint32_t guards = 0;
  // if self.viewer is not None: if metrics.viz_data is not None:
  if (unequal != negated && (equal || unequal) && r == "None" &&
      (is_about_viewer(ast_, l) || contains_any(l, {"viz_", "_viz"})))
    guards |= kGuardDebug;
  // const bool checks = std::getenv("CHECK") != nullptr;
  if (ast_.grammar == Grammar::cuda && unequal && !negated && is_one_of(r, {"nullptr", "NULL"}) &&
      ast_[left].kind == K::call && callee_name(ast_, left) == "getenv")
    return kGuardDebug;
  bool every_few = false;
  auto has_modulo = [&](NodeId at) {
    for (NodeId n = at; n < ast_[at].end; ++n) {
      if (ast_[n].kind == K::binary && ast_[n].text == "%" && inference_.at(n).kind != Kind::text &&
          !divides_no_steps(n)) {
        every_few |= is_every_few(n);
        return true;
      }
      if (ast_[n].kind == K::call && contains_any(callee_name(ast_, n), {"fmod"})) return true;
    }
    return false;
  };
  if (has_modulo(left) || has_modulo(right)) {
    // if args.rank % gpus_per_node == 0: one of each node
    const std::string_view counted = l.substr(0, std::min(l.find_first_of(" %"), l.size()));
    if (has_word(lower(snake_case(last_component(counted))), {"rank"}))
      return equal != negated ? +kGuardRankZero : 0u;
    // `iter % (print_interval * accumulation_steps) == 0`
    const bool reports = contains_any(text, {"print_", "log_"});
    if (every_few ||
        (!reports &&
         contains_any(text, {"accum", "update_freq", "update_every", "microbatch", "micro_batch",
                             "train_freq", "train_every", "learn_every"})) ||
        (!equal && contains_any(text, {"steps_per_update"})))
      return 0;
    // `step % n == 0`, not `step % n != 0`; `step % n == n - 1` too.
    if (equal != negated && (equal || unequal)) return kGuardInterval;
    if (!equal && !unequal && !negated) return kGuardInterval;
    return 0;
  }
  // if (status != cudaSuccess) { cudaFree(p); return; }
  if (ast_.grammar == Grammar::cuda && (equal || unequal) &&
      (r.ends_with("Success") || r.ends_with("_SUCCESS")))
    return guards | (unequal != negated ? +kGuardErrorPath : 0u);
  // `if self.debug == False: ... else: ...`
  if ((equal || unequal) && (r == "True" || r == "False"))
    return guards | of_condition(left, (equal == (r == "True")) == negated, depth + 1);
  if (r == "None" || r == "nullptr" || r == "NULL") return guards | of_none(left, equal != negated);
  if (equal && !negated && r == "0" && l.starts_with("len(")) return kGuardCached;
  // C++: `if (bytes > capacity_)` before a larger buffer is made
  if (ast_.grammar == Grammar::cuda && !negated && !equal && !unequal &&
      contains_any(
          text, {"capacity", "size_", "_size", "allocated", "reserved", "bytes_", "workspace"}) &&
      ast_[left].kind != K::number && ast_[right].kind != K::number)
    return kGuardCached;
  if (op == "not in" && !negated &&
      (r == "group" ||
       contains_any(r, {"state", "cache", "self.", "buffer", "seen", "memo", "table"})))
    return kGuardCached;
  // `if "cuda" in str(x.device): ... else: ...`
  if (op == "in" && ast_[left].kind == K::string && contains_any(r, {"device"})) {
    if (contains_any(l, {"cuda", "gpu"})) return negated ? +kGuardCpuBranch : 0u;
    if (contains_any(l, {"cpu"})) return negated ? 0u : +kGuardCpuBranch;
  }
  if (contains_any(text, {"cpu"}) &&
      (ast_[right].kind == K::string || ast_[left].kind == K::string)) {
    return (equal != negated) ? +kGuardCpuBranch : 0u;
  }
  // `if device_type == "cuda": ... else: ...`
  if ((equal || unequal) && equal == negated && ast_[right].kind == K::string &&
      contains_any(l, {"device"}) && contains_any(r, {"cuda", "gpu"}))
    return kGuardCpuBranch;
  if (contains_any(l, {"rank"}) && (equal || op == "<=") && !negated) return kGuardRankZero;
  if (contains_any(l, {"rank"}) && unequal && negated) return kGuardRankZero;
  const bool timed = contains_any(text, {"time()", "perf_counter", "monotonic", "elapsed",
                                         "last_log", "time_since", "last_print", "last_report"});
  if (timed && !equal && !unequal) return kGuardInterval;
  if (contains_any(
          text, {"log_interval", "log_freq", "print_freq", "log_every", "interval", "print_every",
                 "every_n", "eval_every", "evaluate_every", "save_every", "checkpoint_every"}))
    return kGuardInterval;
  const bool size = ast_.grammar == Grammar::cuda && is_amount(l);
  const bool counter = !negated && is_counter(l) && !size && !counts_within_pass(left);
  // The first steps, or one given step.
  if (counter && (equal || ((op == "<" || op == "<=") && r != "0")) &&
      inference_.at(right).kind == Kind::number && ast_[right].kind == K::number) {
    return begins_its_loop(left, equal ? r : "") ? kGuardInterval | kGuardCached : +kGuardInterval;
  }
  // `if i == accumulation_steps - 1` comes once in each step, and so does the last layer
  if (counter && equal && contains_any(r, {"last", "- 1", "-1", "len(", "total", "max", "num_"}) &&
      !contains_any(r, {"accum", "micro", "layer"}))
    return kGuardInterval;
  // `if step != self.start_step: return`
  if ((equal || unequal) && equal != negated && counts_steps(l) &&
      (ast_[right].kind == K::name || ast_[right].kind == K::attribute))
    return kGuardInterval;
  if (counter && op == "in") return kGuardInterval;
  if (contains_any(l, {"verbos", "debug", "log_level"}) && !negated) return kGuardDebug;
  if (contains_any(l, {"mode", "phase", "split"}) && contains_any(r, {"eval", "val", "test"})) {
    return (equal != negated) ? +kGuardEvaluation : 0u;
  }
  // `if stage != Stage.TRAIN`; who asks for a word may have several forms of training
  if ((equal || unequal) && equal == negated && ast_[right].kind == K::attribute &&
      contains_any(last_component(l), {"stage", "phase"}) && last_component(r) == "TRAIN")
    return kGuardEvaluation;
  // `if self.max_len < n` before `self.table = ...`: kept and grown.
  if (!negated && contains_any(l, {"self."}) && ast_[left].kind != K::binary &&
      ast_[right].kind != K::number &&
      contains_any(text,
                   {"cache", "max_len", "max_seq", "seq_len_cached", "shape", "size", "numel"})) {
    guards |= kGuardCached;
  }
  if (!negated && contains_any(text, {"cached"})) guards |= kGuardCached;
  return guards;
}

/// Of a forward pass, not of training: the first element of a sequence, the last layer, the chunk
/// of tensors that is handed to a kernel last.
bool Guards::counts_within_pass(NodeId counter) const {
  const NodeId function = outline_.functions[outline_.function_of[counter]];
  if (ast_[counter].kind != K::name) return false;
  if (ast_.grammar == Grammar::python) {
    return ast_[function].text == "forward" &&
           (is_one_of(ast_[counter].text, {"t", "timestep", "time_step"}) ||
            is_of_loop(ast_, counter));
  }
  const NodeId parameters = ast_.child(function, Role::parameters);
  // train(net, data, optimizer) is given tensors too, and its loop is the one over steps.
  return parameters != kNoNode && contains_any(ast_.slice(parameters), {"tensor"}) &&
         is_of_loop(ast_, counter) && !contains_any(ast_.slice(function), {".backward("});
}

/// `for step, batch in enumerate(loader): if step == 0: self.calibrate(batch)`: once whenever the
/// loop begins. A counter that is kept elsewhere may begin anew every few steps.
bool Guards::begins_its_loop(NodeId counter, std::string_view value) const {
  if (value != "0" || ast_[counter].kind != K::name || !counts_steps(ast_[counter].text))
    return false;
  const NodeId loop = ast_.ancestor(counter, K::for_);
  const NodeId target = loop == kNoNode ? kNoNode : ast_.child(loop, Role::left);
  if (target == kNoNode || ast_[target].kind != K::tuple) return false;
  return ast_[ast_[target].first_child].text == ast_[counter].text;
}

/// strategy->should_prune(iter): asked in each step whether it is time for what its name says. What
/// trains may be asked so in every step, and whether something applies holds for many of them.
bool Guards::asks_whether_due(NodeId call) const {
  const std::string name = lower(snake_case(callee_name(ast_, call)));
  const NodeId counter = ast_.child(call, Role::argument);
  return name.starts_with("should_") && counter != kNoNode && ast_[counter].next == kNoNode &&
         counts_steps(ast_.slice(counter)) &&
         has_word(name, {"prune", "refine", "densify", "relocate", "reset", "save", "checkpoint",
                         "validate", "evaluate", "report", "print", "display", "backup"});
}

/// itstime(step, config.log_steps): a function of where training stands and of a number of steps.
bool Guards::asks_for_interval(NodeId call) const {
  if (asks_whether_due(call)) return true;
  bool counter = false, interval = false;
  for (const NodeId argument : children(ast_, call)) {
    if (ast_[argument].role != Role::argument) continue;
    const std::string_view text = ast_.slice(argument);
    if (contains_any(text, {"_steps", "_every", "every_", "_freq", "interval"}))
      interval = true;
    else
      counter |= ast_[argument].kind == K::name && is_counter(text);
  }
  return counter && interval;
}

/// `if reverse:` in a layer of a normalizing flow: training goes from data to noise, samples come
/// the other way.
bool Guards::runs_backwards(NodeId name) const {
  const uint32_t klass = outline_.class_of[outline_.function_of[name]];
  return ast_[name].text == "reverse" && klass != kNone &&
         contains_any(ast_[outline_.classes[klass]].text,
                      {"flow", "coupling", "actnorm", "invconv", "invertible", "glow"});
}

namespace {

/// self.is_last, is_last_layer, is_first_stage(): of a part of the network, not of a step.
bool is_about_place(std::string_view text) {
  return (text.starts_with("self.") && is_one_of(last_component(text), {"is_first", "is_last"})) ||
         has_word(lower(snake_case(last_component(text))), {"layer", "block", "stage"});
}

}  // namespace

uint32_t Guards::of_words(std::string_view text, bool negated) const {
  uint32_t guards = 0;
  if (negated) {
    if (is_one_of(last_component(text), {"training", "train", "is_train", "is_training"}))
      guards |= kGuardEvaluation;
    if (last_component(text) == "is_cuda" ||
        contains_any(text, {"use_cuda", "use_gpu", "cuda_available"}))
      guards |= kGuardCpuBranch;
    if (text == "state") guards |= kGuardCached;
    if (last_component(text) == "init" ||
        contains_any(text, {"initialized", "initted", "_inited", ".inited", "is_init"}))
      guards |= kGuardCached | kGuardOutsideStep;
    // `if not safe_to_backward:`: what is done about a loss that is no number
    if (has_word(lower(last_component(text)), {"safe", "finite", "healthy", "sane"}))
      guards |= kGuardErrorPath;
    // What PyTorch's optimisers count steps with is on the host unless they are captured.
    if (last_component(text) == "capturable") guards |= kGuardCpuBranch;
    return guards;
  }
  // `if log: ...` of an argument that says whether it is time to.
  if (last_component(text) == "log") guards |= kGuardInterval;
  if (contains_any(
          text, {"should_log",     "perform_log", "log_step",      "do_log",      "is_log",
                 "to_log",         "log_now",     "should_print",  "do_print",    "every_n",
                 "log_interval",   "print_freq",  "should_report", "time_to",     "should_eval",
                 "is_first",       "first_step",  "first_iter",    "first_batch", "first_time",
                 "should_save",    "do_eval",     "should_sync",   "log_this",    "should_display",
                 "last_step",      "is_last",     "every(",        "log_every",   "should_collect",
                 "should_profile", "log_freq",    "needs_log",     "report_now",  "is_time"}) &&
      !is_about_place(text)) {
    guards |= kGuardInterval;
  }
  // `if save_requested: ...`: a signal asked for it.
  if (contains_any(text, {"save_requested", "checkpoint_requested", "stop_requested"}))
    guards |= kGuardInterval;
  if (contains_any(text, {"is_main", "is_master", "master_process", "is_rank_zero", "is_rank0",
                          "main_process", "is_global_zero", "is_primary", "is_root", "is_chief",
                          "is_leader", "rank_zero", "rank0", "is_local_main", "is_coordinator"})) {
    guards |= kGuardRankZero;
  }
  if (contains_any(text,
                   {"debug",       "verbos",         "sanity",        "inf_check", "nan_check",
                    "assert_nan",  "check_nan",      "detect_anomal", "contracts", "profil",
                    "dry_run",     "benchmark",      "trace_memory",  "cuda_sync", "sync_cuda",
                    "synchronize", "blocking_timer", "time_it",       "timing",    "check_err",
                    "error_check", "visuali",        "show_demo",     "viz_",      "_viz",
                    "perfenabled", "perf_enabled",   "enable_perf"}))
    guards |= kGuardDebug;
  if (is_about_viewer(ast_, text)) guards |= kGuardDebug;
  if (contains_any(text, {"eval_mode", "is_eval", "validating", "is_test", "is_val", "testing",
                          "val_only", "eval_only", "test_only"}))
    guards |= kGuardEvaluation;
  if (is_one_of(last_component(text), {"inference", "is_inference", "predicting", "sampling",
                                       "run_inference", "do_inference", "for_inference"}))
    guards |= kGuardEvaluation | kGuardOutsideStep;
  // What a policy does when it is looked at, not when it explores.
  if (last_component(text) == "deterministic") guards |= kGuardEvaluation;
  if (starts_with_any(last_component(text), {"time_", "print_"}) &&
      !contains_any(text, {"time_feat", "time_emb", "time_step", "time_cond", "time_enc"}))
    guards |= kGuardDebug;
  // torch.onnx.is_in_onnx_export(), torch.jit.is_tracing(): once, for those who deploy it
  if (contains_any(text, {"onnx", "is_tracing", "is_scripting", "is_exporting"}))
    guards |= kGuardEvaluation | kGuardOutsideStep;
  // torch.compiler.is_compiling(): eager steps pass it by, and where it holds the reads are symbols
  if (contains_any(text, {"is_compiling", "is_dynamo_compiling"})) guards |= kGuardOutsideStep;
  // What the caller asked to have on the host.
  if (contains_any(text, {"as_numpy", "to_numpy", "return_numpy", "convert_to_numpy", "to_cpu"}))
    guards |= kGuardCpuBranch;
  // What is moved to the host to make room is meant to be there.
  if (contains_any(text,
                   {"use_cpu", "on_cpu", "is_cpu", "is_mps", "is_dml", "directml", "offload"}))
    guards |= kGuardCpuBranch;
  // `if not skipped_iter: ... else: value = loss.item()`: of a step that had no finite gradients
  if (contains_any(text, {"skipped_iter", "found_inf", "found_nan", "has_nan", "nonfinite",
                          "non_finite", "not_finite"}) ||
      text.ends_with("overflow"))
    guards |= kGuardErrorPath;
  if (contains_any(text, {"needs_init", "not_initialized", "recompute", "rebuild"}))
    guards |= kGuardCached;
  return guards;
}

}  // namespace stallscope
