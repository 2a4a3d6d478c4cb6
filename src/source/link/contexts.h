// Contexts: for every function, whether it runs in each step, in a forward
// pass, in evaluation, ..., and the calls that prove it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/link/call_graph.h"
#include "source/link/dead_code.h"
#include "source/link/frameworks.h"
#include "source/link/step_loops.h"
#include "source/link/switchboard.h"

namespace stallscope {

enum ContextBit : uint16_t {
  kInStep = 1,
  kInForward = 2,
  kInEval = 4,
  kInCheckpoint = 8,
  kInInit = 16,
  kAtInterval = 32,  ///< called from the step or a forward pass, but only now and then
  kOutside = 64,     ///< called from code that runs once
  kInJit = 128,
  kNearStep = 512,     ///< reached from the step, whatever the names on the way say
  kInInference = 256,  ///< generation, prediction, export: beside training
  kEvalLoop = 1024,    ///< called from a loop of an evaluation: for each batch, not once
};

/// What a function is that no operator of a step is.
inline constexpr uint32_t kBesideSteps = kInitFunction | kEvalFunction | kInferenceFunction |
                                         kCheckpointFunction | kTestFunction | kModuleLevel |
                                         kMainFunction;
/// Guards of calls that most steps do not make.
inline constexpr uint32_t kSeldom = kGuardInterval | kGuardErrorPath | kGuardDebug | kGuardCached;

class Contexts {
 public:
  /// All but `entry_points` must outlive it.
  Contexts(const CallGraph& graph, const DeadCode& dead, const Switchboard& switches,
           const StepLoops& steps, std::vector<EntryPoint> entry_points);

  /// Bits of a place: of its function, and of the loops around it.
  uint16_t at(FunctionId function, uint32_t loop) const;
  /// What proves the step, forward or evaluation context, outermost first.
  std::vector<std::string> chain(FunctionId function, uint32_t loop, uint16_t bit) const;
  /// Whether steps and forward passes come here only where an option is on that nothing turns on.
  bool is_by_option(FunctionId function, uint32_t loop) const;
  /// Whether of those who call a function in steps and forward passes, if it has such, one may give
  /// what `option`, a parameter of its own, wants.
  bool is_asked_in_steps(FunctionId function, const Option& option) const;
  /// Whether some function calls it, beside handing it on as a value.
  bool is_called(FunctionId id) const;
  /// The same of functions of another name, outside tests: evaluate(net) calls evaluate(layer).
  bool is_called_by_others(FunctionId id) const;
  /// Whether a framework calls the function in evaluations, and not at their ends.
  bool evaluates_batches(FunctionId id) const;
  /// Whether it calls, perhaps through others, what runs steps, or what its name says trains.
  bool leads_to_steps(FunctionId id) const;
  /// Whether it launches kernels itself, or through wrappers of kernels.
  bool launches(FunctionId id) const { return launchers_[id] != 0; }
  /// Whether a function of C++ is called by nothing but what launches kernels itself, and is seen
  /// to run in no step: it works for an operator.
  bool serves_launchers(FunctionId id) const;
  /// Whether several functions of C++ that launch kernels call it, itself or through others: what
  /// it allocates is not made in one set-up.
  bool supplies_launchers(FunctionId id) const;
  /// Whether it stands in a test, by its file's path.
  bool is_test(FunctionId id) const { return (places_[graph_.file_index(id)] & kTest) != 0; }
  /// Whether something of which no context is known calls it, beside what builds or evaluates.
  bool has_open_caller(FunctionId id) const;
  /// Whether a loop of C++ calls it each time before other work of the device: InitSampling(batch)
  /// is no set-up there, whatever its name says.
  bool begins_again(FunctionId id) const;
  /// Whether a loop of what neither builds nor evaluates calls it, or calls who calls it, `hops`
  /// times removed: of a program no step of which is known, what it does again and again.
  bool runs_again(FunctionId id, unsigned hops) const;
  /// In Python: whether a loop that does not come seldom calls it, itself or through
  /// `hops` others, of what neither builds, saves nor evaluates.
  bool is_looped(FunctionId id, unsigned hops) const;
  /// Whether a step comes to the function through calls none of which is compiled by JAX: what is
  /// traced elsewhere runs on the host there.
  bool is_run_eagerly(FunctionId id) const { return eager_[id] != 0; }
  /// Whether anything that stands in the file is known to run in a step.
  bool has_steps(size_t file) const;
  /// Whether functions of several files call it: no part of one set-up.
  bool serves_many(FunctionId id) const;
  /// Whether it has a loop of statements.
  bool has_loop(FunctionId id) const;
  /// Whether `loop`, or one around it, takes a batch each time: from a loader, or for a model, but
  /// not to generate from it.
  bool is_batch_loop(FunctionId id, uint32_t loop) const;
  /// The step loop that holds `loop`, or kNone.
  uint32_t step_loop(FunctionId function, uint32_t loop) const {
    return steps_.around(function, loop);
  }
  /// Whether a place stands in the step itself: in its loop, or in the function that is one.
  bool is_own_step(FunctionId function, uint32_t loop) const {
    return step_loop(function, loop) != kNone || steps_.is_whole_step(function);
  }
  /// Whether `loop` is the loop over steps itself, none inside a step: what leaves it ends
  /// training, or an epoch.
  bool is_step_loop(FunctionId function, uint32_t loop) const {
    return loop != kNone && step_loop(function, loop) == loop;
  }
  /// Whether `loop` stands before, behind or around the step loop of its function.
  bool is_beside_steps(FunctionId function, uint32_t loop) const {
    return step_loop(function, loop) == kNone && steps_.in(function);
  }
  /// Whether a place runs once for each loop over steps: around that loop, or called from there,
  /// perhaps through `hops` other functions.
  bool runs_each_epoch(FunctionId function, uint32_t loop, unsigned hops = 1) const;

 private:
  void find_launchers();
  bool wraps(const Edge& edge) const;
  bool steps_simulation(FunctionId id) const;
  std::unordered_map<std::string_view, bool> called_for_set_up() const;
  std::vector<uint16_t> bound_functions() const;
  void seed(const DeadCode& dead);
  bool is_made_by_option(FunctionId constructor, const Switchboard& switches) const;
  void find_optional(const Switchboard& switches);
  void propagate(uint16_t bit, const Switchboard& switches);
  bool is_jitted(FunctionId id) const;
  void find_eager();
  bool is_asked_for(const Edge& edge, uint16_t bit) const;
  bool is_asked(FunctionId function, const Option& option, uint16_t bit) const;
  bool is_host_environment(FunctionId id) const;
  bool means_another(const Edge& edge) const;
  bool is_made_again(const Edge& edge) const;
  bool may_spread(FunctionId from, uint16_t bit) const;
  bool spreads(const Edge& edge, uint16_t bit) const;
  bool repeats(const Edge& edge) const;
  bool launches_beside(const Edge& edge) const;
  bool evaluates_for_training(FunctionId id) const;
  bool is_made_to_evaluate(FunctionId method) const;
  bool trains_itself(FunctionId method) const;
  void find_epoch_runners();
  bool is_consumed(const Edge& edge) const;
  bool is_only_consumed(FunctionId function) const;
  bool is_around_step_loop(FunctionId function, uint32_t loop) const;
  bool is_evaluation_loop(FunctionId function, uint32_t loop) const;
  bool only_runs_steps(FunctionId id) const;
  void classify_files(const DeadCode& dead);
  bool is_example(FunctionId id) const { return (places_[graph_.file_index(id)] & kExample) != 0; }

  enum Place : uint8_t { kTest = 1, kExample = 2, kOutOfReach = 4 };

  const CallGraph& graph_;
  std::vector<EntryPoint> entry_points_;
  const StepLoops& steps_;
  std::vector<uint8_t> places_;  ///< per file: Place
  std::vector<uint16_t> bits_;
  std::vector<uint16_t> by_option_;   ///< those that hold only where an option is on
  std::vector<uint8_t> optional_;     ///< per function: of a class made only where an option is on
  std::vector<uint8_t> launchers_;    ///< per function
  std::vector<uint8_t> sets_up_;      ///< bound functions that Python calls only to set up
  std::vector<uint8_t> runs_epochs_;  ///< per function: it calls what has a step loop
  std::vector<uint8_t> eager_;        ///< per function: a step comes to it without compiling
  std::vector<std::vector<uint32_t>> from_;  ///< per bit position and function: edge + 1
};

}  // namespace stallscope
