// Entry points of frameworks: functions that are called every step from code
// outside the project. Data: rules/frameworks.yaml.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "source/link/call_graph.h"

namespace stallscope {

/// A function that a framework calls: its name, and what its class or a base's name must contain.
struct EntryPoint {
  std::string name;
  std::string class_contains;  ///< empty = any class or none
  bool step = true;            ///< else evaluation
  bool compiled = false;       ///< only of C++
};

/// Reads a frameworks.yaml; sorted by name. Errors name file and line.
Result<std::vector<EntryPoint>> load_entry_points(const std::string& path);

/// Whether a framework calls a function for each step, or else for evaluations, by what is `known`,
/// sorted by name. The bases of its class may stand in other files.
bool is_entry_point(const CallGraph& graph, FunctionId id, std::span<const EntryPoint> known,
                    bool step);

}  // namespace stallscope
