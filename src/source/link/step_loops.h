// Where training steps are: the loops that hold one, and the functions that are one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "source/link/call_graph.h"
#include "source/link/frameworks.h"

namespace stallscope {

class StepLoops {
 public:
  /// `graph` must outlive it.
  StepLoops(const CallGraph& graph, std::span<const EntryPoint> entry_points);

  /// The step loop that is `loop` or holds it, or kNone.
  uint32_t around(FunctionId function, uint32_t loop) const;
  /// Whether the function itself has a step loop.
  bool in(FunctionId function) const { return holds_[function] != 0; }
  /// Whether the function's whole body is a step.
  bool is_whole_step(FunctionId function) const { return whole_step_[function] != 0; }
  /// fit(), called in each round of a trainer: it has the loop over batches, and what stands around
  /// that loop runs once a round.
  bool is_around_own_steps(FunctionId function) const { return around_own_[function] != 0; }

 private:
  void find_loops_of_steps();
  void find_whole_steps(std::span<const EntryPoint> entry_points);
  bool warms_up(const Edge& edge) const;
  bool has_step_loop(FunctionId id) const;
  void follow_generators();
  void follow_callers();
  bool find_collections();
  bool learns_in(FunctionId id, uint32_t loop) const;
  bool find_rollouts();
  void sum_up();
  void mark(size_t in_file, uint32_t loop);
  static std::vector<uint8_t> loops_around_backward(const FileFacts& file);
  static bool is_rollout(const FileFacts& file, uint32_t loop);
  bool collects_in(FunctionId id, uint32_t loop) const;
  static bool is_part_of_step(const FileFacts& file, uint32_t loop);
  bool is_imported_module(const FileFacts& file) const;
  bool steps_through_sequence(FunctionId id) const;
  static bool only_guides(const FileFacts& file);
  bool is_called_once(FunctionId id) const;
  bool scans_epoch(const Edge& edge, uint32_t loop) const;
  bool is_repeated(FunctionId id, unsigned hops) const;
  bool is_replay(FunctionId id, uint32_t loop) const;

  const CallGraph& graph_;
  std::vector<std::vector<uint8_t>> marks_;  ///< per file and loop
  std::vector<uint8_t> whole_step_;          ///< per function, as the next three
  std::vector<uint8_t> by_name_;  ///< a step, but only as a framework calls it, or what calls such
  std::vector<uint8_t> holds_;
  std::vector<uint8_t> around_own_;
};

}  // namespace stallscope
