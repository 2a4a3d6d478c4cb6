// Finite differences of a loss.
#pragma once

#include <utility>

namespace stallscope::trainer {

/// loss() with `value` one `step` above where it is, and one below; the value is put back.
template <typename Loss>
auto above_and_below(double& value, double step, const Loss& loss) {
  const double original = value;
  value = original + step;
  const auto above = loss();
  value = original - step;
  const auto below = loss();
  value = original;
  return std::pair(above, below);
}

}  // namespace stallscope::trainer
