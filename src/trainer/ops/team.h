// Splitting a kernel's rows among the threads of a team.
#pragma once

#include <algorithm>
#include <cstddef>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace stallscope::trainer {

/// Calls body(begin, end) on pieces that cover [0, count), whole multiples of `grain` each.
template <typename Body>
void for_rows(int team, size_t count, size_t grain, const Body& body) {
  const size_t grains = (count + grain - 1) / grain;
  const auto threads = static_cast<size_t>(std::max(team, 1));
  if (threads == 1 || grains < 2) return body(size_t{0}, count);
#ifdef _OPENMP
#pragma omp parallel for num_threads(team) schedule(static)
#endif
  for (size_t piece = 0; piece < threads; ++piece) {
    const size_t begin = grains * piece / threads * grain;
    const size_t end = std::min(grains * (piece + 1) / threads * grain, count);
    if (begin < end) body(begin, end);
  }
}

}  // namespace stallscope::trainer
