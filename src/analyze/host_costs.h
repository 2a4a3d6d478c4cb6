// Known costs of a training step's host side, by the Python functions that make them.
#pragma once

#include <cstdint>
#include <string_view>

namespace stallscope {

/// In this order: a stack that shows several belongs to the first. What traces a model calls
/// everything else, a checkpoint flattens trees, a loader in the step's own process collates.
enum class HostCost : uint8_t {
  garbage_collection,
  compilation,
  checkpoint,
  logging,
  collation,
  tokenising,
  tree_at,
  filter_jit,
  pytree,
  loader_wait,
};
inline constexpr int kHostCosts = 10;

/// "tracing and compilation" and so on: the names of report.json.
std::string_view to_string(HostCost cost);

/// The known costs that a Python frame is a sign of, as bits (1 << HostCost). 0 = none.
uint32_t host_costs_of(std::string_view file, std::string_view function);

}  // namespace stallscope
