// Contexts: for every function, whether it runs in each step, in a forward
// pass, in evaluation, ..., and the calls that prove it.
#pragma once

#include <string>
#include <vector>

#include "source/call_graph.h"

namespace stallscope {

/// A function that a framework calls: its name, and what its class or a base's name must contain.
struct EntryPoint {
  std::string name;
  std::string class_contains;  ///< empty = any class or none
  bool step = true;            ///< else evaluation
};

enum ContextBit : uint16_t {
  kInStep = 1,
  kInForward = 2,
  kInEval = 4,
  kInCheckpoint = 8,
  kInInit = 16,
  kAtInterval = 32,  ///< called from the step, but only now and then
  kOutside = 64,     ///< called from code that runs once
  kInJit = 128,
  kNearStep = 512,     ///< reached from the step, whatever the names on the way say
  kInInference = 256,  ///< generation, prediction, export: beside training
  kEvalLoop = 1024,    ///< called from a loop of an evaluation: for each batch, not once
};

class Contexts {
 public:
  Contexts(const CallGraph& graph, std::vector<EntryPoint> entry_points);

  /// Bits of a place: of its function, and of the loops around it.
  uint16_t at(FunctionId function, uint32_t loop) const;
  /// What proves the step, forward or evaluation context, outermost first.
  std::vector<std::string> chain(FunctionId function, uint32_t loop, uint16_t bit) const;
  /// Whether some function calls it, beside handing it on as a value.
  bool is_called(FunctionId id) const;
  /// Whether it has a loop of statements.
  bool has_loop(FunctionId id) const;
  /// Whether `loop`, or one around it, takes a batch each time: from a loader, or for a model.
  bool is_batch_loop(FunctionId id, uint32_t loop) const;
  /// The step loop that holds `loop`, or kNone.
  uint32_t step_loop(FunctionId function, uint32_t loop) const;

 private:
  void find_step_loops();
  std::vector<uint8_t> bound_functions() const;
  void seed();
  void propagate(uint16_t bit);
  bool spreads(const Edge& edge, uint16_t bit) const;
  bool is_entry(FunctionId id, bool step) const;
  bool has_step_loop(FunctionId id) const;
  bool only_runs_steps(FunctionId id) const;

  const CallGraph& graph_;
  std::vector<EntryPoint> entry_points_;
  std::vector<uint16_t> bits_;
  std::vector<uint8_t> whole_step_;               ///< per function: its whole body is a step
  std::vector<std::vector<uint8_t>> step_loops_;  ///< per file and loop
  std::vector<std::vector<uint32_t>> from_;       ///< per bit position and function: edge + 1
};

}  // namespace stallscope
