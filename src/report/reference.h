// The reference beside a run: what a well-written trainer of the same shape takes
// for its step, and where the difference lies.
#pragma once

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

struct ReferenceComparison {
  std::string source;       ///< the file it was read from
  std::string description;  ///< "bert, 4 layers, hidden 768, ..."
  std::string refused;      ///< why no comparison makes sense; empty: it does
  Ns run_step = 0, reference_step = 0;
  std::vector<ReferenceRow> classes;  ///< where the step goes; sums to the mean step
  /// Kernel time by kind of operator: the median launch of each kernel times its launches.
  std::vector<ReferenceRow> groups;  ///< kernel time by kind of operator
  std::vector<std::string> not_like_for_like;
};

struct Report;

/// Reads a reference.json and sets it beside the report's slowest rank. Error when the file is no
/// reference.
Result<ReferenceComparison> compare_with_reference(const Report& report, const std::string& file);

/// The comparison as lines for the terminal.
std::string reference_text(const ReferenceComparison& comparison);

}  // namespace stallscope
