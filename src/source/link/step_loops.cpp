#include "source/link/step_loops.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "source/link/purpose.h"
#include "source/names/mentions.h"
#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {

StepLoops::StepLoops(const CallGraph& graph, std::span<const EntryPoint> entry_points)
    : graph_(graph), whole_step_(graph.functions(), 0), by_name_(graph.functions(), 0) {
  find_loops_of_steps();
  find_whole_steps(entry_points);
  follow_generators();
  follow_callers();
  sum_up();
  const bool collects = find_collections(), plays = find_rollouts();
  if (collects || plays) sum_up();
}

/// Whether a file of Python defines classes that another file imports, and is no trainer: by its
/// name, or as it reads a command line.
bool StepLoops::is_imported_module(const FileFacts& file) const {
  if (file.language != "python" || file.classes.empty() || reads_arguments(file)) return false;
  const std::string_view name = std::string_view(file.path).substr(file.path.rfind('/') + 1);
  const std::string stem(name.substr(0, name.rfind('.')));
  if (contains_any(stem, {"train", "main", "run", "tune", "example", "demo", "fit"})) return false;
  const std::string within = "." + stem + ".";
  const auto imports = [&](const auto& bound_from) {
    return ("." + bound_from.second + ".").find(within) != std::string::npos;
  };
  return std::ranges::any_of(graph_.files(), [&](const auto& other) {
    return other.get() != &file && std::ranges::any_of(other->imports, imports);
  });
}

/// Loops of several updates on one batch, of PPO's epochs over it and their minibatches, are parts
/// of the loop over the batches: all are steps, and so is a function that replays.
void StepLoops::mark(size_t in_file, uint32_t loop) {
  const FileFacts& file = *graph_.files()[in_file];
  std::vector<uint8_t>& marks = marks_[in_file];
  const FunctionId function = graph_.id_of(in_file, file.loops[loop].function);
  if (is_replay(function, loop)) whole_step_[function] = 1;
  marks[loop] = 1;
  if (file.loops[loop].over_loader) return;
  uint32_t up = file.loops[loop].parent;
  // for update: for epoch in range(update_epochs): for start in range(0, n, size): step
  const uint32_t passes =
      !file.loops[loop].repeats && up != kNone && file.loops[up].repeats ? up : loop;
  const uint32_t around = file.loops[passes].parent;
  if (file.loops[passes].repeats && around != kNone && !file.loops[around].seldom) {
    marks[around] = 1;
    return;
  }
  // while True: batch = next(batches); for part in parts: part.optimizer.step()
  if (up != kNone && file.loops[up].fetches && !file.loops[loop].fetches &&
      !file.loops[up].seldom) {
    marks[up] = 1;
    return;
  }
  const bool inside = up != kNone && file.loops[up].over_batches && !file.loops[loop].over_batches;
  while (!inside && up != kNone && !file.loops[up].over_loader) up = file.loops[up].parent;
  if (up != kNone && !file.loops[up].seldom) marks[up] = 1;
}

/// `for i in range(n): losses[i].backward()` and then `for i in range(n): optimizers[i].step()`:
/// together they are a part of the loop around both. Per loop, whether it holds one that goes
/// backward.
std::vector<uint8_t> StepLoops::loops_around_backward(const FileFacts& file) {
  std::vector<uint8_t> out(file.loops.size(), 0);
  for (const LoopFacts& loop : file.loops) {
    if (loop.parent != kNone && loop.backward && !loop.over_batches && !loop.over_loader)
      out[loop.parent] = 1;
  }
  return out;
}

/// The innermost loop holding the optimiser's step, else backward, in each function.
void StepLoops::find_loops_of_steps() {
  marks_.resize(graph_.files().size());
  for (size_t f = 0; f < marks_.size(); ++f) {
    const FileFacts& file = *graph_.files()[f];
    std::vector<uint8_t>& marks = marks_[f];
    marks.assign(file.loops.size(), 0);
    std::vector<uint8_t> optimizer(file.functions.size(), 0);
    for (const LoopFacts& loop : file.loops) optimizer[loop.function] |= loop.optimizer_step;
    const std::vector<uint8_t> holds_backward = loops_around_backward(file);
    for (uint32_t l = 0; l < file.loops.size(); ++l) {
      const LoopFacts& loop = file.loops[l];
      if (is_rollout(file, l)) marks[l] = 1;
      if (!loop.optimizer_step && (!loop.backward || optimizer[loop.function])) continue;
      const FunctionFacts& function = file.functions[loop.function];
      // benchmark_kernels(): gradients that are only timed.
      if ((function.flags & kTestFunction) != 0) continue;
      // compute_fisher(), gradient_check(): gradients that are looked at, and step nothing.
      if (!loop.optimizer_step &&
          has_word(lower(snake_case(function.name)), {"fisher", "check", "gradcheck"}))
        continue;
      // A module that others import tries itself when it is run.
      if (loop.function == 0 && is_imported_module(file)) continue;
      if (!loop.optimizer_step && (file.functions[loop.function].flags & kStepEvidence) != 0)
        continue;
      uint32_t at = l;
      auto around_backward = [&](uint32_t from) {
        for (uint32_t up = file.loops[from].parent; up != kNone; up = file.loops[up].parent) {
          if (file.loops[up].backward) return true;
        }
        return false;
      };
      const auto beside_backward = [&](uint32_t from) {
        return file.loops[from].parent != kNone && holds_backward[file.loops[from].parent] != 0;
      };
      while (at != kNone &&
             (is_part_of_step(file, at) ||
              (!file.loops[at].backward && (around_backward(at) || beside_backward(at))))) {
        at = file.loops[at].parent;
      }
      if (at == kNone)
        whole_step_[graph_.id_of(f, loop.function)] = loop.function != 0;
      else
        mark(f, at);
    }
  }
}

/// forward_step() that a module's own forward() takes in a loop: one step of a decoder over a
/// sequence, not one of training.
bool StepLoops::steps_through_sequence(FunctionId id) const {
  const FunctionFacts& function = graph_.function(id);
  return function.name == "forward_step" &&
         std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
           const Edge& edge = graph_.edges()[e];
           const FunctionFacts& caller = graph_.function(edge.from);
           return edge.loop != kNone && edge.call->form == CallForm::self_method &&
                  caller.class_name == function.class_name && (caller.flags & kForward) != 0;
         });
}

/// Whether a file below inference/ takes gradients that guide what is inferred, and zeroes none:
/// nothing is trained there.
bool StepLoops::only_guides(const FileFacts& file) {
  static const uint32_t zeroes = name_hash("zero_grad");
  return file.language == "python" && is_for_trained_model(file.path) &&
         !mentions(file.mentions, zeroes);
}

/// initialize_scales(), which goes backward: whether all who call it, at least one, do so once.
bool StepLoops::is_called_once(FunctionId id) const {
  const std::span<const uint32_t> callers = graph_.callers(id);
  return !callers.empty() && std::ranges::all_of(callers, [&](uint32_t e) {
    const CallFacts& call = *graph_.edges()[e].call;
    return call.form != CallForm::reference && (call.guards & kGuardCached) != 0 &&
           (call.guards & kGuardInterval) != 0;
  });
}

/// for epoch in range(n): state, loss = run_epoch(state, data), of JAX: what is called scans over
/// all its batches.
bool StepLoops::scans_epoch(const Edge& edge, uint32_t loop) const {
  const FileFacts& file = graph_.file(edge.from);
  return file.loops[loop].seldom && uses_jax(file) && !has_step_loop(edge.to) &&
         names_epoch(last_component(edge.call->name));
}

/// Whether a loop runs a function, as far as `hops` callers tell.
bool StepLoops::is_repeated(FunctionId id, unsigned hops) const {
  return hops > 0 && std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
           const Edge& edge = graph_.edges()[e];
           return edge.loop != kNone || is_repeated(edge.from, hops - 1);
         });
}

/// train(gradient_steps), a method that a loop calls between two rollouts: what it reads behind its
/// own loop it reads as often as the agent plays.
bool StepLoops::is_replay(FunctionId id, uint32_t loop) const {
  constexpr unsigned kFarthest = 2;
  const LoopFacts& facts = graph_.file(id).loops[loop];
  return facts.replays && facts.parent == kNone && graph_.function(id).takes_self() &&
         is_repeated(id, kFarthest);
}

/// Functions that are one step themselves: by what they do, or as a framework calls them.
void StepLoops::find_whole_steps(std::span<const EntryPoint> entry_points) {
  for (size_t f = 0; f < marks_.size(); ++f) {
    const FileFacts& file = *graph_.files()[f];
    std::vector<uint8_t> has_loop(file.functions.size(), 0);
    std::vector<uint8_t> accumulates(file.functions.size(), 0);
    std::vector<uint8_t> over_loader(file.functions.size(), 0);
    std::vector<uint8_t> runs_over_loader(file.functions.size(), 0);
    const bool guides = only_guides(file);
    for (uint32_t l = 0; l < file.loops.size(); ++l) {
      // `for _ in range(args.grad_accum): engine.backward(loss); engine.step()`: the function
      // steps.
      const bool micro = file.loops[l].accumulates && file.loops[l].parent == kNone;
      (micro ? accumulates : has_loop)[file.loops[l].function] |= marks_[f][l];
      runs_over_loader[file.loops[l].function] |=
          file.loops[l].over_loader && !file.loops[l].comprehension;
      over_loader[file.loops[l].function] |=
          marks_[f][l] != 0 && file.loops[l].over_loader && file.loops[l].optimizer_step;
    }
    for (uint32_t i = 0; i < file.functions.size(); ++i) {
      const FunctionFacts& function = file.functions[i];
      // A constructor takes the gradient of a function to keep it: nothing is stepped there.
      const bool constructor =
          is_one_of(function.name, {"__init__", "__post_init__", "__attrs_post_init__"}) ||
          (!function.name.empty() && function.name == function.class_name);
      const bool steps = ((function.flags & kStepEvidence) != 0 || accumulates[i] != 0) &&
                         has_loop[i] == 0 && !constructor && !guides &&
                         !is_verification_name(function.name) &&
                         (function.flags & (kModuleLevel | kTestFunction)) == 0 &&
                         !((function.flags & kMainFunction) != 0 && function.class_name.empty());
      const FunctionId id = graph_.id_of(f, i);
      if (steps && is_called_once(id)) continue;
      constexpr unsigned kFarthest = 3;
      if (steps && (function.flags & kScansSteps) != 0 && !is_repeated(id, kFarthest)) continue;
      // train_step(model, loader) steps once a batch: an epoch, whatever it is called.
      const bool is_epoch = (over_loader[i] != 0 && function.class_name.empty()) ||
                            (runs_over_loader[i] != 0 &&
                             std::ranges::any_of(function.parameters, [](const std::string& p) {
                               return is_loader_name(p);
                             }));
      by_name_[id] = !steps && !is_epoch && is_entry_point(graph_, id, entry_points, true) &&
                     !steps_through_sequence(id);
      if (steps || by_name_[id] != 0) whole_step_[id] = 1;
    }
  }
}

/// Whether each pass of a loop is no step of its own: of one over parameters, layers or optimisers,
/// or over micro-batches inside another loop.
bool StepLoops::is_part_of_step(const FileFacts& file, uint32_t loop) {
  const LoopFacts& facts = file.loops[loop];
  return facts.comprehension || facts.over_parameters || facts.over_optimizers ||
         ((facts.over_layers || facts.over_devices) && !facts.over_batches) ||
         (facts.accumulates && facts.parent != kNone && !file.loops[facts.parent].seldom);
}

/// `update(state, batch)` outside the loops of a function that calls it in one as well: compiled
/// before the first step, or measured behind the last.
bool StepLoops::warms_up(const Edge& edge) const {
  const FileFacts& file = graph_.file(edge.from);
  return std::ranges::any_of(graph_.calls(edge.from), [&](uint32_t e) {
    const Edge& other = graph_.edges()[e];
    return other.to == edge.to && other.loop != kNone && !is_part_of_step(file, other.loop) &&
           !file.loops[other.loop].accumulates;
  });
}

/// Whether a loop of a function itself is known to step.
bool StepLoops::has_step_loop(FunctionId id) const {
  const FileFacts& file = graph_.file(id);
  const std::vector<uint8_t>& marks = marks_[graph_.file_index(id)];
  for (uint32_t l = 0; l < file.loops.size(); ++l) {
    if (marks[l] != 0 && graph_.id_of(graph_.file_index(id), file.loops[l].function) == id)
      return true;
  }
  return false;
}

/// The loop around a call of a step is a step loop; without one, the caller is a step too.
/// for losses in learner.fit(loader): a generator that yields in its loop over steps takes one
/// whenever the loop around it asks for the next.
void StepLoops::follow_generators() {
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    const FunctionFacts& f = graph_.function(id);
    if ((f.flags & kGenerator) == 0 || (f.flags & (kEvalFunction | kTestFunction)) != 0) continue;
    const size_t in = graph_.file_index(id);
    const std::vector<LoopFacts>& loops = graph_.files()[in]->loops;
    bool steps = false;
    for (uint32_t l = 0; l < loops.size(); ++l)
      steps |= marks_[in][l] != 0 && loops[l].yields && graph_.id_of(in, loops[l].function) == id;
    if (!steps) continue;
    for (const uint32_t e : graph_.callers(id)) {
      const Edge& edge = graph_.edges()[e];
      if (edge.call->consumer != kNone && edge.loop == edge.call->consumer &&
          (graph_.function(edge.from).flags & (kEvalFunction | kTestFunction)) == 0)
        mark(graph_.file_index(edge.from), edge.loop);
    }
  }
}

void StepLoops::follow_callers() {
  std::vector<FunctionId> work;
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    // module.transfer_batch_to_device(batch): who calls it themselves may train or not.
    if (whole_step_[id] != 0 && !(by_name_[id] != 0 && moves_data(graph_.function(id).name)))
      work.push_back(id);
  }
  while (!work.empty()) {
    FunctionId id = work.back();
    work.pop_back();
    for (uint32_t e : graph_.callers(id)) {
      const Edge& edge = graph_.edges()[e];
      const CallFacts& call = *edge.call;
      const FileFacts& file = graph_.file(edge.from);
      const FunctionFacts& caller = graph_.function(edge.from);
      // validate() calls compute_loss() too, and steps nothing, whether that takes gradients or
      // not; decision_function() scores what was fitted, whatever else the method that it shares
      // with fit() does; run_viewer() shows it.
      const bool evaluates = (caller.flags & (kEvalFunction | kWeakRole)) == kEvalFunction ||
                             has_word(lower(snake_case(caller.name)), {"viewer"});
      if (evaluates &&
          (by_name_[id] != 0 || edge.loop == kNone || (caller.flags & kInferenceFunction) != 0))
        continue;
      uint32_t loop = edge.loop;
      while (loop != kNone && is_part_of_step(file, loop)) loop = file.loops[loop].parent;
      if (loop != kNone) {
        if (scans_epoch(edge, loop)) continue;
        const bool known = whole_step_[edge.from] != 0;
        mark(graph_.file_index(edge.from), loop);
        if (!known && whole_step_[edge.from] != 0) work.push_back(edge.from);
        continue;
      }
      if (warms_up(edge)) continue;
      // compute_loss(test_data) behind the loop that trains
      if (by_name_[id] != 0 && has_word(graph_.function(id).name, {"loss"}) &&
          has_step_loop(edge.from))
        continue;
      if (call.form == CallForm::reference ||
          (caller.flags & (kModuleLevel | kMainFunction | kInitFunction)) != 0)
        continue;
      if (graph_.callers(edge.from).empty()) continue;
      if (whole_step_[edge.from] == 0 || by_name_[edge.from] > by_name_[id]) {
        whole_step_[edge.from] = 1;
        by_name_[edge.from] = by_name_[id];
        work.push_back(edge.from);
      }
    }
  }
}

void StepLoops::sum_up() {
  holds_.assign(graph_.functions(), 0);
  around_own_.assign(graph_.functions(), 0);
  for (size_t f = 0; f < marks_.size(); ++f) {
    const FileFacts& file = *graph_.files()[f];
    for (uint32_t l = 0; l < file.loops.size(); ++l) {
      if (marks_[f][l] == 0) continue;
      const LoopFacts& loop = file.loops[l];
      const FunctionId id = graph_.id_of(f, loop.function);
      holds_[id] = 1;
      // Of one that only sums up gradients, what stands around it is the rest of the step.
      const bool accumulates = loop.backward && !loop.optimizer_step;
      around_own_[id] |= whole_step_[id] == 0 && loop.over_batches && !accumulates;
    }
  }
}

uint32_t StepLoops::around(FunctionId function, uint32_t loop) const {
  const FileFacts& file = graph_.file(function);
  const std::vector<uint8_t>& marks = marks_[graph_.file_index(function)];
  for (uint32_t at = loop; at != kNone; at = file.loops[at].parent) {
    if (marks[at] != 0) return at;
  }
  return kNone;
}

}  // namespace stallscope
