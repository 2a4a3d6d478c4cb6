// Whether one set of runs is faster than another. The unit of resampling is
// the run: steps of one run share its machine state, and a bootstrap over them
// alone calls half of all comparisons of a program with itself different.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace stallscope {

enum class Verdict : uint8_t { faster, slower, no_evidence, abstain };
/// "faster", "slower", "no-evidence", "abstain".
std::string_view to_string(Verdict verdict);

/// The used steps of one run, in order, in nanoseconds.
struct RunSteps {
  std::string label;
  std::vector<double> steps;
};

/// Standard deviation of a run's median step from run to run, relative, where
/// it cannot be measured. Measured on a quiet two-core machine: 1.7 %.
inline constexpr double kAssumedRunSpread = 0.02;
/// A change below this is nobody's concern, however sure it is.
inline constexpr double kSmallestChange = 0.001;

struct StepTimeChange {
  Verdict verdict = Verdict::abstain;
  Ns before = 0, after = 0;         ///< medians of the runs' median steps
  double change = 0;                ///< after / before - 1
  double low = 0, high = 0;         ///< its 95 % interval
  double run_spread = 0;            ///< relative, from run to run, as used
  bool run_spread_assumed = false;  ///< it was not measured: one run a side
  size_t runs_before = 0, runs_after = 0;
};

/// Compares `after` with `before`. `known_spread` is the spread from run to run
/// where history tells it; negative = measured from the runs where there are
/// several a side, else assumed. Abstains when a side has no steps.
StepTimeChange compare_step_times(std::span<const RunSteps> before, std::span<const RunSteps> after,
                                  double known_spread = -1);

}  // namespace stallscope
