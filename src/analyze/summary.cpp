#include "analyze/summary.h"

#include <numeric>

namespace stallscope {

std::string_view to_string(StepClass step_class) {
  static constexpr std::array<std::string_view, kStepClasses> kNames = {
      "compute",    "exposed-communication", "exposed-copy",
      "host-sync",  "launch-bound",          "host-work",
      "input-wait", "profiler-overhead",     "other"};
  return kNames[static_cast<size_t>(step_class)];
}

Ns ClassTimes::total() const {
  return std::accumulate(ns.begin(), ns.end(), Ns{0});
}

}  // namespace stallscope
