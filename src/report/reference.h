// The reference beside a run: what a well-written trainer of the same shape takes
// for its step, and where the difference lies.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"

namespace stallscope {

/// One line of the comparison, per step. Unknown is empty, never 0.
struct ReferenceRow {
  std::string name;
  std::optional<double> run_ns, reference_ns;
  std::optional<double> run_launches, reference_launches;
  std::optional<double> reference_flops, reference_bytes;

  /// How much longer the run takes; unknown when either side is.
  std::optional<double> difference_ns() const {
    if (!run_ns || !reference_ns) return std::nullopt;
    return *run_ns - *reference_ns;
  }
};

/// What is known of a run's shape, by the keys of `report --shape`: "layers" -> "4".
using RunShape = std::map<std::string, std::string, std::less<>>;

struct ReferenceComparison {
  std::string source;       ///< the file it was read from
  std::string description;  ///< "bert, 4 layers, hidden 768, ..."
  std::string refused;      ///< why no comparison makes sense; empty: it does
  Ns run_step = 0, reference_step = 0;
  std::vector<ReferenceRow> classes;  ///< where the step goes; sums to the mean step
  /// Kernel time by kind of operator: the median launch of each kernel times its launches.
  std::vector<ReferenceRow> groups;  ///< kernel time by kind of operator
  bool same_view = true;  ///< false: the run's classes are its step thread's, not a device's
  std::vector<std::string> not_like_for_like;
};

struct Report;

/// Why no reference can stand beside a run on a GPU; empty for a run without one.
std::string gpu_refusal(const Report& report);

/// Reads a reference.json and sets it beside the report's slowest rank, where the run's shape is
/// not known to be another. Error when the file is no reference.
Result<ReferenceComparison> compare_with_reference(const Report& report, const RunShape& shape,
                                                   const std::string& file);

/// The comparison as lines for the terminal.
std::string reference_text(const ReferenceComparison& comparison);

}  // namespace stallscope
