// Whether a rule's contexts hold where a candidate stands.
#include <algorithm>

#include "source/index.h"
#include "source/link/purpose.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

std::string_view word_of(uint16_t bits) {
  if ((bits & kInStep) != 0) return "step";
  if ((bits & kInForward) != 0) return "forward";
  if ((bits & kInInference) != 0) return "inference";
  if ((bits & kInEval) != 0) return "eval";
  if ((bits & (kInInit | kOutside | kInCheckpoint | kAtInterval)) != 0) return "init";
  return "library";
}

/// Lowers a match by one step for what a guard says.
void lower_for(std::string_view guard, SourceFact& out) {
  out.guards.emplace_back(guard);
  out.lowered += 1;
}

/// Some rules say little where a helper or a layer is read: often it serves others than the step.
void lower_behind_calls(const CompiledClause& clause, SourceFact& out) {
  if ((clause.lower & kGuardBehindCalls) != 0) lower_for("behind-calls", out);
}

bool is_program(const FileFacts& file) {
  return std::ranges::any_of(file.functions, [](const FunctionFacts& f) {
    return (f.flags & kMainFunction) != 0 && f.class_name.empty();
  });
}

}  // namespace

/// A finding of a library: whoever calls it stops, and nobody is seen to. What a program of C++
/// has, and no step of it is seen to reach, runs beside its steps as often as in them.
bool SourceIndex::stand_alone(size_t file, SourceFact& out) const {
  out.context = "library";
  out.guards.emplace_back("no-visible-caller");
  if (files_[file]->is_compiled() && dead_code_->is_program()) out.guards.emplace_back(kUnreached);
  out.lowered += 1;
  return true;
}

/// Whether an evaluation comes here once, or nothing tells that it comes for each batch.
bool SourceIndex::once_in_evaluation(FunctionId function, const Candidate& candidate,
                                     uint16_t bits) const {
  const FileFacts& file = graph_->file(function);
  // on_validation_epoch_end(): behind all batches.
  if (contains_any(graph_->function(function).name, {"epoch_end", "end_epoch", "epoch_start"}))
    return true;
  unsigned around = 0;
  for (uint32_t loop = candidate.loop; loop != kNone; loop = file.loops[loop].parent)
    around += file.loops[loop].comprehension ? 0 : 1;
  const bool behind = std::ranges::any_of(file.loops, [&](const LoopFacts& loop) {
    return loop.function == candidate.function && !loop.comprehension &&
           loop.last_line < candidate.first_line;
  });
  if (around == 0 && behind && (graph_->function(function).flags & kEvalFunction) != 0) return true;
  if ((bits & kEvalLoop) != 0) return false;
  // for batch in source: yield batch.to(device)
  if ((graph_->function(function).flags & kGenerator) != 0 && candidate.loop != kNone &&
      !file.loops[candidate.loop].generates && candidate.subject.kind == Kind::batch)
    return false;
  // A rule about a loop inside the step wants one inside the loop over batches.
  if (candidate.in_inner_loop && around < 2) return true;
  return !contexts_->is_batch_loop(function, candidate.loop);
}

/// Whether a function launches kernels on what it is given, and no demonstration, server or setter.
bool SourceIndex::works_on_device(FunctionId function) const {
  const FileFacts& file = graph_->file(function);
  const FunctionFacts& facts = graph_->function(function);
  // fit(x, y) of a library is all of training, a destructor the end of what it trained.
  return !is_whole_fit(facts.name) && !facts.name.starts_with('~') &&
         (contexts_->launches(function) || contexts_->serves_launchers(function)) &&
         !is_setter_name(facts.name) && !is_serving_path(file.path) &&
         !is_storage_path(file.path) && !is_example_path(file.path) &&
         !is_evaluation_script(file.path);
}

/// Whether a function of a library is such a one. A program is seen as a whole: what its step does
/// not reach does not run in it.
bool SourceIndex::may_be_operator(FunctionId function) const {
  return !is_program(graph_->file(function)) && works_on_device(function);
}

/// Whether a program of C++, of which nothing tells what a step is, does such work in its loops.
bool SourceIndex::is_loop_work(FunctionId function) const {
  constexpr unsigned kCallers = 2;
  const FileFacts& file = graph_->file(function);
  return file.is_compiled() && is_program(file) && contexts_->runs_again(function, kCallers) &&
         works_on_device(function) && !contexts_->has_steps(graph_->file_index(function));
}

/// Whether a program runs a model without gradients and leads to no step.
bool SourceIndex::only_predicts(FunctionId program) const {
  const FileFacts& file = graph_->file(program);
  const bool predicts = std::ranges::any_of(file.loops, &LoopFacts::validates) ||
                        std::ranges::any_of(file.functions, [](const FunctionFacts& f) {
                          return (f.flags & kWithoutGrad) != 0;
                        });
  return predicts && (graph_->function(program).flags & (kModuleLevel | kMainFunction)) != 0 &&
         !contexts_->leads_to_steps(program);
}

bool SourceIndex::context_allows(size_t file, const Candidate& candidate,
                                 const CompiledClause& clause, SourceFact& out) const {
  const FunctionId function = graph_->id_of(file, candidate.function);
  if (dead_code_->has_for_all(function)) return false;
  const uint16_t bits = contexts_->at(function, candidate.loop);
  const std::string_view word = word_of(bits);
  const uint16_t step_bit = (bits & kInInference) != 0 ? kNearStep : kInStep;
  const FunctionFacts& facts = graph_->function(function);
  out.context = word;
  // JAX has no graph to break: what cannot be traced is an error.
  out.breaks_graph = (bits & kInJit) != 0 && !uses_jax(*files_[file]);
  // assert_mean_zero(x): tests have such helpers, but what a step calls checks each time. A shape
  // is a tensor only where a function is traced.
  const bool checks = facts.name.starts_with("assert_") && (bits & (kInStep | kInForward)) != 0 &&
                      !has_word(facts.name, {"shape", "size", "dim"}) &&
                      !contexts_->is_test(function);
  if ((clause.unless & kGuardTest) != 0 && (facts.flags & kTestFunction) != 0 && !checks)
    return false;
  if (contexts_->is_step_loop(function, candidate.loop)) {
    // An element-wise read is one in a loop inside the step, not in the step's own loop.
    if (candidate.in_inner_loop) return false;
    if ((candidate.guards & kGuardLeavesLoop) != 0 && (clause.unless & kGuardInterval) != 0)
      return false;
  }
  // What reads a value cannot be traced: where a step comes to it in Python, it runs there.
  const bool eager = rules_->rules()[candidate.rule].host_block && uses_jax(*files_[file]) &&
                     contexts_->is_run_eagerly(function);
  const bool traced = (bits & kInJit) != 0 && !eager;
  if ((clause.unless & kGuardJit) != 0 && traced) return false;
  if ((clause.lower & kGuardJit) != 0 && traced) {
    lower_for("in-jit", out);
  }
  const bool anywhere = clause.contexts == 0 || clause.wants(Context::any);
  if (anywhere && (clause.unless & kGuardEvaluation) != 0 &&
      (word == "eval" || is_evaluation_script(files_[file]->path) || only_predicts(function)))
    return false;
  if (anywhere)
    return (bits & (kInStep | kInForward)) != 0 || !is_evaluation_place(files_[file]->path);
  const bool forwards = (bits & (kInStep | kInForward)) == kInForward &&
                        clause.wants(Context::forward) && files_[file]->is_compiled();
  // An operator of a library that a set-up calls too.
  // search(), sample() that launch kernels, whatever their names say: operators, unless called
  // from what evaluates.
  constexpr uint32_t kPliant = kWeakRole | kDeviceWork | kEvalFunction;
  const bool pliant = (facts.flags & kPliant) == kPliant && (bits & ~(kInEval | kEvalLoop)) == 0 &&
                      !contexts_->is_called_by_others(function);
  const auto operates = [&] {
    return clause.wants(Context::launcher) && may_be_operator(function) &&
           (word == "library" || pliant || contexts_->begins_again(function) ||
            ((facts.flags & kBesideSteps) == 0 &&
             (contexts_->has_open_caller(function) || contexts_->serves_many(function))));
  };
  if (clause.wants(Context::epoch) && (bits & (kInStep | kInForward | kInCheckpoint)) == 0 &&
      contexts_->runs_each_epoch(function, candidate.loop)) {
    out.context = "epoch";
    out.lowered += 1;
    if ((bits & kInEval) != 0) {
      lower_for("evaluation-only", out);
    }
    return true;
  }
  if (clause.wants(Context::loop) && candidate.loop != kNone && !forwards) {
    if ((bits & kInStep) != 0) {
      out.context_chain = contexts_->chain(function, candidate.loop, step_bit);
      return true;
    }
    const LoopFacts* loop = &files_[file]->loops[candidate.loop];
    while (loop->comprehension && loop->parent != kNone) loop = &files_[file]->loops[loop->parent];
    if (loop->seldom || contexts_->is_beside_steps(function, candidate.loop)) return false;
    if ((bits & kInForward) != 0 && files_[file]->is_compiled() && infers_only(*files_[file]))
      return false;
    // A loop that builds, saves, predicts or runs now and then is none that matters, unless others
    // call the operator that it is in.
    if ((bits & (kInInit | kInCheckpoint | kAtInterval)) != 0 || word == "inference")
      return operates() && stand_alone(file, out);
    if ((bits & (kInForward | kInEval)) == 0 && is_host_side_path(files_[file]->path)) return false;
    if (word == "eval" && (bits & (kEvalLoop | kNearStep)) == 0 &&
        !contexts_->is_batch_loop(function, candidate.loop))
      return false;
    out.context = "loop";
    if ((bits & kInEval) != 0) out.guards.emplace_back("evaluation-only");
    out.lowered += 1;
    lower_behind_calls(clause, out);
    if ((clause.lower & kGuardNoStepLoop) != 0) {
      lower_for("loop-of-no-step", out);
    }
    return true;
  }
  // A sampler or a solver of JAX that takes no gradient has loops, too, and calls what reads there.
  if (clause.wants(Context::loop) && (clause.lower & kGuardNoStepLoop) != 0 &&
      (bits & ~(kOutside | kInJit)) == 0 && uses_jax(*files_[file]) &&
      !contexts_->has_steps(file) && !is_host_side_path(files_[file]->path) &&
      contexts_->is_looped(function, 1)) {
    out.context = "loop";
    out.lowered += 1;
    lower_for("loop-of-no-step", out);
    return true;
  }
  if ((bits & kInStep) != 0 && clause.wants(Context::step)) {
    // A decoder of C++ has steps too, and trains nothing, unless it goes backward itself.
    if (files_[file]->is_compiled() && is_serving_path(files_[file]->path) &&
        std::ranges::none_of(files_[file]->loops, &LoopFacts::backward))
      return false;
    out.context_chain = contexts_->chain(function, candidate.loop, step_bit);
    if (!contexts_->is_own_step(function, candidate.loop)) lower_behind_calls(clause, out);
    return true;
  }
  if ((bits & kInForward) != 0 && clause.wants(Context::forward)) {
    // inference.py, postprocessing.py: modules that make something of a trained model's output.
    if (infers_only(*files_[file]) || is_evaluation_place(files_[file]->path)) return false;
    out.context = "forward";
    out.context_chain = contexts_->chain(function, candidate.loop, kInForward);
    if (is_transform_path(files_[file]->path)) {
      lower_for("behind-calls", out);
    } else {
      lower_behind_calls(clause, out);
    }
    return true;
  }
  const bool evaluates = (bits & kInEval) != 0;
  if ((bits & kInJit) != 0 && clause.wants(Context::jit) &&
      (bits & (kInInit | kInCheckpoint)) == 0 &&
      (!evaluates || (clause.lower & kGuardEvaluation) != 0) &&
      ((bits & kOutside) == 0 || contexts_->runs_again(function, 1) ||
       (uses_jax(*files_[file]) && (facts.flags & kJitCompiled) != 0))) {
    if (evaluates) {
      lower_for("evaluation-only", out);
    }
    return true;
  }
  if (operates()) return stand_alone(file, out);
  if (clause.wants(Context::allocator) && contexts_->supplies_launchers(function) &&
      !is_example_path(files_[file]->path))
    return stand_alone(file, out);
  if (clause.wants(Context::launcher) && word == "library" && is_loop_work(function)) {
    out.context = "loop";
    lower_for("behind-calls", out);
    return true;
  }
  // What a set-up calls too; preprocess_packed(ids), which works on the device it is given.
  constexpr uint32_t kByName = kWeakRole | kFollowsDevice;
  const uint32_t beside = facts.flags & kBesideSteps;
  const bool shared =
      word == "init" && (bits & ~(kInInit | kEvalLoop)) == 0 &&
      (beside == 0 || (beside == kInitFunction && (facts.flags & kByName) == kByName)) &&
      contexts_->has_open_caller(function);
  if (word == "init" && !shared) return clause.wants(Context::init);
  if (word == "eval") {
    if (clause.wants(Context::eval)) return true;
    if (is_beside_path(files_[file]->path) && !is_batch_mover(files_[file]->path, facts.name))
      return false;
    // evaluation/metrics.py: what nobody is seen to call for each batch comes once.
    if (is_host_side_path(files_[file]->path) && !contexts_->is_called(function) &&
        !contexts_->is_batch_loop(function, candidate.loop))
      return false;
    if (once_in_evaluation(function, candidate, bits)) return false;
    if ((clause.lower & kGuardEvaluation) == 0) return false;
    lower_for("evaluation-only", out);
    return true;
  }
  if ((word == "library" || shared) && library_allows(file, function, clause))
    return stand_alone(file, out);
  return false;
}

}  // namespace stallscope
