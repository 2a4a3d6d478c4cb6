// What an agent plays to learn from it: the loops in which it acts are steps of training, as those
// are in which it learns.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "source/link/step_loops.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

/// Where an agent may act that learns nothing from it.
constexpr uint32_t kBesideTraining = kEvalFunction | kTestFunction | kInferenceFunction;

/// collect_rollouts(), _sample_training_data(), play_game(): where an agent acts so that it can
/// learn from it.
bool collects(const FunctionFacts& function) {
  const std::string name = lower(snake_case(function.name));
  const bool plays = has_word(name, {"play", "selfplay", "episode", "episodes"}) &&
                     !has_word(name, {"train", "learn", "update", "vs", "against", "match", "human",
                                      "demo", "show", "watch", "record"});
  return (plays || has_word(name, {"collect", "rollout", "rollouts", "experience", "experiences",
                                   "trajectories", "trajectory", "sample"})) &&
         !has_word(name, {"eval", "evaluate", "evaluation", "test", "val", "save", "load", "video",
                          "render"}) &&
         (function.flags & kTestFunction) == 0;
}

/// sample_images(): shows what a model of images has learnt, unless an environment is stepped.
bool may_show(const FunctionFacts& function) {
  return !has_word(lower(snake_case(function.name)),
                   {"collect", "rollout", "rollouts", "experience", "experiences", "trajectories",
                    "trajectory", "data", "batch", "training"}) &&
         !has_word(lower(snake_case(function.class_name)),
                   {"rollout", "rollouts", "experience", "trajectories", "trajectory"});
}

}  // namespace

/// Whether an agent acts in this loop that learns from it: there, or in a loop around it.
bool StepLoops::is_rollout(const FileFacts& file, uint32_t loop) {
  if (!file.loops[loop].plays ||
      (file.functions[file.loops[loop].function].flags & kBesideTraining) != 0)
    return false;
  for (uint32_t at = loop; at != kNone; at = file.loops[at].parent) {
    if (file.loops[at].learns) return true;
  }
  // for update in range(n): for t in range(steps): play; for epoch in range(4): ...step()
  const uint32_t around = file.loops[loop].parent;
  if (around == kNone) return false;
  return std::ranges::any_of(file.loops, [&](const LoopFacts& other) {
    if (!other.optimizer_step || other.function != file.loops[loop].function) return false;
    uint32_t at = other.parent;
    while (at != kNone && at != around) at = file.loops[at].parent;
    return at == around;
  });
}

/// Whether a loop calls what collects, too: for _ in range(n): batch = self.collect_episode().
bool StepLoops::collects_in(FunctionId id, uint32_t loop) const {
  return std::ranges::any_of(graph_.calls(id), [&](uint32_t e) {
    const Edge& edge = graph_.edges()[e];
    return edge.loop == loop && edge.call->form != CallForm::reference &&
           collects(graph_.function(edge.to));
  });
}

/// `for update in range(n): self.collect(); self.learn()`: the loops over a model in collect() are
/// as much a part of training as those in learn(). Whether there are any.
bool StepLoops::find_collections() {
  std::vector<std::pair<size_t, uint32_t>> found;
  for (const Edge& edge : graph_.edges()) {
    const FunctionFacts& called = graph_.function(edge.to);
    if (edge.loop == kNone || edge.call->form == CallForm::reference || !collects(called) ||
        (edge.call->guards & kGuardInterval) != 0 || graph_.file(edge.to).language != "python")
      continue;
    const FileFacts& file = graph_.file(edge.from);
    const auto learns = [&](uint32_t e) {
      const Edge& other = graph_.edges()[e];
      uint32_t at = other.loop;
      while (at != kNone && at != edge.loop) at = file.loops[at].parent;
      return at == edge.loop && other.to != edge.to && (is_whole_step(other.to) || in(other.to));
    };
    if (std::ranges::none_of(graph_.calls(edge.from), learns)) continue;
    const FileFacts& own = graph_.file(edge.to);
    for (uint32_t l = 0; l < own.loops.size(); ++l) {
      const LoopFacts& loop = own.loops[l];
      if (loop.function == graph_.index_in_file(edge.to) && !loop.comprehension &&
          (loop.plays || collects_in(edge.to, l) ||
           ((loop.runs_model || loop.generates) && !may_show(called))) &&
          around(edge.to, loop.parent) == kNone)
        found.emplace_back(graph_.file_index(edge.to), l);
    }
  }
  for (const auto& [file, loop] : found) marks_[file][loop] = 1;
  return !found.empty();
}

/// Whether a loop that is known to step stands in `loop`, or in what it calls, perhaps once in a
/// while: `for t in range(n): ...env.step(action); if full: for batch in memory: update(batch)`.
bool StepLoops::learns_in(FunctionId id, uint32_t loop) const {
  const FileFacts& file = graph_.file(id);
  const std::vector<uint8_t>& marks = marks_[graph_.file_index(id)];
  const auto is_within = [&](uint32_t at) {
    while (at != kNone && at != loop) at = file.loops[at].parent;
    return at == loop;
  };
  for (uint32_t l = 0; l < file.loops.size(); ++l) {
    if (marks[l] != 0 && is_within(l)) return true;
  }
  return std::ranges::any_of(graph_.calls(id), [&](uint32_t e) {
    const Edge& edge = graph_.edges()[e];
    const bool beside = edge.loop == file.loops[loop].parent && edge.loop != kNone &&
                        (edge.guards & kGuardInterval) == 0;
    return (beside || is_within(edge.loop)) && edge.call->form != CallForm::reference &&
           (edge.guards & kGuardEvaluation) == 0 && in(edge.to) &&
           (graph_.function(edge.to).flags & kBesideTraining) == 0;
  });
}

/// `while t < n: for _ in range(k): ...env.step(action)...; self.optimize()`, where optimize() has
/// the loop over minibatches: what the agent plays it learns from. Whether there are any.
bool StepLoops::find_rollouts() {
  bool any = false;
  for (size_t f = 0; f < marks_.size(); ++f) {
    const FileFacts& file = *graph_.files()[f];
    for (uint32_t l = 0; l < file.loops.size(); ++l) {
      const FunctionId id = graph_.id_of(f, file.loops[l].function);
      if (!file.loops[l].plays || around(id, l) != kNone ||
          (graph_.function(id).flags & kBesideTraining) != 0 || !learns_in(id, l))
        continue;
      marks_[f][l] = 1;
      any = true;
    }
  }
  return any;
}

}  // namespace stallscope
