#include "source/link/contexts.h"

#include <algorithm>
#include <bit>

#include "source/link/purpose.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {

Contexts::Contexts(const CallGraph& graph, const DeadCode& dead, const Switchboard& switches,
                   const StepLoops& steps, std::vector<EntryPoint> entry_points)
    : graph_(graph), entry_points_(std::move(entry_points)), steps_(steps) {
  bits_.assign(graph.functions(), 0);
  by_option_.assign(graph.functions(), 0);
  from_.assign(16, std::vector<uint32_t>(graph.functions(), 0));
  classify_files(dead);
  find_launchers();
  find_epoch_runners();
  seed(dead);
  find_optional(switches);
  for (uint16_t bit : {kInStep, kInForward, kInJit, kNearStep, kAtInterval, kInEval, kInInference,
                       kInCheckpoint, kInInit, kOutside, kEvalLoop})
    propagate(bit, switches);
  find_eager();
}

void Contexts::classify_files(const DeadCode& dead) {
  for (uint32_t f = 0; f < graph_.files().size(); ++f) {
    const auto& file = graph_.files()[f];
    const bool test = is_test_file(*file);
    // What is called a test and is none is an example where its folder says so.
    const std::string_view path = file->path;
    const bool example =
        is_example_path(test || !is_test_path(path) ? path : path.substr(0, path.rfind('/') + 1));
    places_.push_back(static_cast<uint8_t>((test ? kTest : 0) | (example ? kExample : 0) |
                                           (dead.is_out_of_reach(f) ? kOutOfReach : 0)));
  }
}

void Contexts::seed(const DeadCode& dead) {
  const std::vector<uint16_t> bound = bound_functions();
  sets_up_.assign(graph_.functions(), 0);
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    const FunctionFacts& f = graph_.function(id);
    if (dead.is_of_unused_class(id)) continue;
    const bool eval_entry = is_entry_point(graph_, id, entry_points_, false);
    // sample_points(), generate_rays(), sub_sampling() that launch kernels are operators.
    const bool operates = launchers_[id] != 0 && (f.flags & kWeakRole) != 0 &&
                          graph_.file(id).language != "python" && !predicts(f.name);
    if (evaluates_for_training(id)) bits_[id] |= kInEval;
    if (steps_.is_whole_step(id) || steps_simulation(id)) bits_[id] |= kInStep;
    if ((f.flags & kForward) != 0 && !f.class_name.empty() && is_made_to_evaluate(id))
      bits_[id] |= kInEval;
    // inference/model.py: modules around a trained one, for those who ask it; or one of a program
    // that trains nothing, or of a server.
    else if ((f.flags & kForward) != 0 && graph_.file(id).language == "python" &&
             (is_for_trained_model(graph_.file(id).path) || dead.is_in_predictor(id) ||
              (deploys(graph_.file(id)) && !is_about_training(graph_.file(id)))))
      bits_[id] |= kInInference;
    else if ((f.flags & (kForward | kHook)) != 0)
      bits_[id] |= kInForward;
    bits_[id] |= bound[id];
    sets_up_[id] = bound[id] == kInInit ? 1 : 0;
    if ((f.flags & kJitCompiled) != 0) bits_[id] |= kInJit;
    if (!steps_.is_whole_step(id)) {
      if (((f.flags & kEvalFunction) != 0 && !operates) || eval_entry) bits_[id] |= kInEval;
      // What steps call too by its name, and nobody is seen to call, may be called for each batch.
      if (eval_entry || ((f.flags & kWeakRole) != 0 && !operates &&
                         !(is_called(id) || has_loop(id) || is_whole_evaluation(f.name))))
        bits_[id] |= kEvalLoop;
      if ((f.flags & kInferenceFunction) != 0 && !operates) bits_[id] |= kInInference;
      if ((f.flags & kCheckpointFunction) != 0) bits_[id] |= kInCheckpoint;
      if ((f.flags & kInitFunction) != 0) bits_[id] |= kInInit;
    }
    // C++ runs nothing there: REGISTER(...).set_body([](...) { ... }) offers it.
    const bool loaded = (f.flags & kModuleLevel) != 0 && graph_.file(id).language == "python";
    if (loaded || ((f.flags & kMainFunction) != 0 && f.class_name.empty())) bits_[id] |= kOutside;
  }
}

bool Contexts::has_open_caller(FunctionId id) const {
  return std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
    const Edge& edge = graph_.edges()[e];
    // In C++ an evaluation's loop somewhere above says nothing of what the caller is.
    const uint16_t says_nothing = graph_.file(edge.from).is_compiled() ? kEvalLoop : 0;
    return edge.call->form != CallForm::reference && (bits_[edge.from] & ~says_nothing) == 0 &&
           (edge.call->guards & (kGuardInterval | kGuardErrorPath | kGuardDebug)) == 0 &&
           !is_test(edge.from);
  });
}

bool Contexts::serves_many(FunctionId id) const {
  constexpr size_t kMany = 3;
  std::vector<size_t> files;
  for (const uint32_t e : graph_.callers(id)) {
    const Edge& edge = graph_.edges()[e];
    const size_t file = graph_.file_index(edge.from);
    if (edge.call->form == CallForm::reference || std::ranges::find(files, file) != files.end() ||
        is_test(edge.from) || is_example(edge.from))
      continue;
    files.push_back(file);
    if (files.size() == kMany) return true;
  }
  return false;
}

bool Contexts::is_called(FunctionId id) const {
  return std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
    return graph_.edges()[e].call->form != CallForm::reference;
  });
}

bool Contexts::is_called_by_others(FunctionId id) const {
  const std::string& name = graph_.function(id).name;
  return std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
    const Edge& edge = graph_.edges()[e];
    return edge.call->form != CallForm::reference && !is_test(edge.from) &&
           graph_.function(edge.from).name != name;
  });
}

bool Contexts::evaluates_batches(FunctionId id) const {
  const FunctionFacts& f = graph_.function(id);
  return is_entry_point(graph_, id, entry_points_, false) &&
         !contains_any(f.name, {"epoch_end", "end_epoch", "epoch_start"});
}

bool Contexts::leads_to_steps(FunctionId id) const {
  constexpr size_t kMostFollowed = 64;
  const auto trains = [](const CallFacts& call) {
    return contains_any(call.name, {"train", "fit", "learn", "tune", "step", "launch", "backward"});
  };
  std::vector<FunctionId> seen = {id};
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen.size() > kMostFollowed || steps_.in(seen[i]) || steps_.is_whole_step(seen[i]) ||
        std::ranges::any_of(graph_.file(seen[i]).calls, [&](const CallFacts& call) {
          return call.function == graph_.index_in_file(seen[i]) && trains(call);
        }))
      return true;
    for (const uint32_t e : graph_.calls(seen[i])) {
      const FunctionId to = graph_.edges()[e].to;
      if (std::ranges::find(seen, to) == seen.end()) seen.push_back(to);
    }
  }
  return false;
}

bool Contexts::has_loop(FunctionId id) const {
  return std::ranges::any_of(graph_.file(id).loops, [&](const LoopFacts& loop) {
    return loop.function == graph_.index_in_file(id) && !loop.comprehension;
  });
}

bool Contexts::is_batch_loop(FunctionId id, uint32_t loop) const {
  const FileFacts& file = graph_.file(id);
  for (uint32_t at = loop; at != kNone; at = file.loops[at].parent) {
    const LoopFacts& l = file.loops[at];
    if (!l.comprehension && !l.generates && (l.over_batches || l.runs_model)) return true;
  }
  return false;
}

bool Contexts::only_runs_steps(FunctionId id) const {
  return (steps_.in(id) || runs_epochs_[id] != 0) && bits_[id] == 0;
}

/// run(), called by what trains, or beside it in a class: a model over all batches of a loader
/// without gradients, whatever the function's name says.
bool Contexts::evaluates_for_training(FunctionId id) const {
  const FunctionFacts& f = graph_.function(id);
  if ((f.flags & kWithoutGrad) == 0 || (f.flags & (kModuleLevel | kTestFunction)) != 0 ||
      steps_.is_whole_step(id) || steps_.in(id))
    return false;
  const bool over_batches = std::ranges::any_of(graph_.file(id).loops, [&](const LoopFacts& loop) {
    return loop.function == graph_.index_in_file(id) && loop.over_batches && loop.runs_model &&
           !loop.generates;
  });
  if (!over_batches) return false;
  if (graph_.callers(id).empty() && !f.class_name.empty() && !f.name.starts_with("get_"))
    return trains_itself(id);
  return std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
    const Edge& edge = graph_.edges()[e];
    return edge.call->form != CallForm::reference &&
           (steps_.in(edge.from) || runs_epochs_[edge.from] != 0);
  });
}

/// `if phase == "test": self.detect = Detect(...)`: whether all that are seen to make an object of
/// the method's class, at least one, do so in such branches.
bool Contexts::is_made_to_evaluate(FunctionId method) const {
  const FileFacts& file = graph_.file(method);
  const FunctionId first = method - graph_.index_in_file(method);
  bool any = false;
  for (uint32_t f = 0; f < file.functions.size(); ++f) {
    if (file.functions[f].name != "__init__" ||
        file.functions[f].class_name != graph_.function(method).class_name)
      continue;
    for (const uint32_t e : graph_.callers(first + f)) {
      const Edge& edge = graph_.edges()[e];
      if (is_test(edge.from)) continue;
      if (edge.call->form != CallForm::function || (edge.call->guards & kGuardEvaluation) == 0)
        return false;
      any = true;
    }
  }
  return any;
}

/// Whether the class of a method has the loop over training's steps.
bool Contexts::trains_itself(FunctionId method) const {
  const FileFacts& file = graph_.file(method);
  const FunctionId first = method - graph_.index_in_file(method);
  for (uint32_t f = 0; f < file.functions.size(); ++f) {
    if (file.functions[f].class_name == graph_.function(method).class_name && steps_.in(first + f))
      return true;
  }
  return false;
}

/// fit() that calls train_epoch(), which has the loop: what else it calls runs once an epoch.
void Contexts::find_epoch_runners() {
  runs_epochs_.assign(graph_.functions(), 0);
  std::vector<FunctionId> work;
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    if (steps_.in(id)) work.push_back(id);
  }
  for (size_t i = 0; i < work.size(); ++i) {
    for (const uint32_t e : graph_.callers(work[i])) {
      const Edge& edge = graph_.edges()[e];
      const CallFacts& call = *edge.call;
      // model.train() is mostly torch's.
      const bool known = call.form == CallForm::function || call.form == CallForm::self_method ||
                         call.form == CallForm::super_method ||
                         !graph_.receiver_class(graph_.file(edge.from), call).empty();
      if (call.form == CallForm::reference || !known || runs_epochs_[edge.from] != 0 ||
          is_batch_loop(edge.from, edge.loop))
        continue;
      runs_epochs_[edge.from] = 1;
      work.push_back(edge.from);
    }
  }
}

/// `with torch.no_grad(): for x, y in test_loader: model(x)` beside the loop over steps.
bool Contexts::is_evaluation_loop(FunctionId function, uint32_t loop) const {
  if (!steps_.in(function) && runs_epochs_[function] == 0) return false;
  const FileFacts& file = graph_.file(function);
  for (uint32_t at = loop; at != kNone; at = file.loops[at].parent) {
    const LoopFacts& l = file.loops[at];
    if (l.over_batches && l.runs_model && l.validates && !l.backward && !l.optimizer_step &&
        !l.generates && !l.comprehension)
      return true;
  }
  return false;
}

/// Whether a loop of the caller runs over what the call makes.
bool Contexts::is_consumed(const Edge& edge) const {
  return edge.call->consumer != kNone && edge.loop == edge.call->consumer;
}

/// Whether a generator is only iterated, by what is no step itself: what it does outside its loops
/// it does once.
bool Contexts::is_only_consumed(FunctionId function) const {
  const std::span<const uint32_t> callers = graph_.callers(function);
  return (graph_.function(function).flags & kGenerator) != 0 && !callers.empty() &&
         !steps_.is_whole_step(function) && std::ranges::all_of(callers, [&](uint32_t e) {
           const Edge& edge = graph_.edges()[e];
           return is_consumed(edge) && (bits_[edge.from] & kInStep) == 0;
         });
}

/// Whether a loop over steps, of its function or of what it calls, lies in `loop`.
bool Contexts::is_around_step_loop(FunctionId function, uint32_t loop) const {
  if (loop == kNone || step_loop(function, loop) != kNone) return false;
  const std::vector<LoopFacts>& loops = graph_.file(function).loops;
  const auto holds = [&](uint32_t inner) {
    for (; inner != kNone; inner = loops[inner].parent) {
      if (inner == loop) return true;
    }
    return false;
  };
  for (uint32_t inner = loop + 1; inner < loops.size(); ++inner) {
    if (is_step_loop(function, inner) && holds(inner)) return true;
  }
  return std::ranges::any_of(graph_.calls(function), [&](uint32_t e) {
    const Edge& edge = graph_.edges()[e];
    // jobs.append(partial(train, lap)) runs nothing yet
    return edge.loop != kNone && edge.call->form != CallForm::reference && steps_.in(edge.to) &&
           holds(edge.loop);
  });
}

bool Contexts::runs_each_epoch(FunctionId function, uint32_t loop, unsigned hops) const {
  if (is_around_step_loop(function, loop)) return true;
  return hops != 0 && std::ranges::any_of(graph_.callers(function), [&](uint32_t e) {
           const Edge& edge = graph_.edges()[e];
           return edge.from != function && edge.call->form != CallForm::reference &&
                  (edge.call->guards & kSeldom) == 0 &&
                  runs_each_epoch(edge.from, edge.loop, hops - 1);
         });
}

uint16_t Contexts::at(FunctionId function, uint32_t loop) const {
  uint16_t bits = bits_[function];
  if (loop == kNone && (bits & kInStep) != 0 && is_only_consumed(function))
    return static_cast<uint16_t>((bits & ~(kInStep | kNearStep)) | kOutside);
  if (step_loop(function, loop) != kNone) return static_cast<uint16_t>((bits & kInJit) | kInStep);
  if (is_evaluation_loop(function, loop)) return kInEval | kEvalLoop;
  // Rollouts of a trainer generate in every step.
  if ((bits & kInInference) != 0 && (bits & kNearStep) != 0) bits |= kInStep;
  if ((bits & kInStep) == 0 ? steps_.in(function) : steps_.is_around_own_steps(function)) {
    // Before or behind the loop, whoever calls it.
    if (loop == kNone) bits &= kInJit;
    bits &= static_cast<uint16_t>(~kInStep);
    return static_cast<uint16_t>(bits | kOutside);
  }
  return bits;
}

std::vector<std::string> Contexts::chain(FunctionId function, uint32_t loop, uint16_t bit) const {
  std::vector<std::string> out;
  FunctionId at = function;
  uint32_t at_loop = loop;
  for (int hop = 0; hop < 12; ++hop) {
    // What is near the step is reached from it: from there on its own calls are the proof.
    if (bit == kNearStep && (bits_[at] & kInStep) != 0) bit = kInStep;
    const auto position = static_cast<size_t>(std::countr_zero(bit));
    const FileFacts& file = graph_.file(at);
    uint32_t step = step_loop(at, at_loop);
    if (step != kNone) {
      out.push_back("in the loop at " + file.path + ":" +
                    std::to_string(file.loops[step].first_line));
      break;
    }
    uint32_t edge = from_[position][at];
    if (edge == 0) {
      const FunctionFacts& f = graph_.function(at);
      if (bit == kInStep) out.push_back(f.qualified + "() runs one training step");
      if (bit == kInForward) out.push_back(f.qualified + "() is a forward pass");
      break;
    }
    const Edge& e = graph_.edges()[edge - 1];
    out.push_back("called from " + graph_.function(e.from).qualified + "() at " +
                  graph_.file(e.from).path + ":" + std::to_string(e.call->line));
    at = e.from;
    at_loop = e.loop;
  }
  std::ranges::reverse(out);
  return out;
}

}  // namespace stallscope
