// Splitting a kernel's rows among the threads of a team.
#pragma once

#include <algorithm>
#include <cstddef>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace stallscope::trainer {

/// The calling thread's number in its team, from 0: which scratch memory is its own.
inline size_t team_member() {
#ifdef _OPENMP
  return static_cast<size_t>(omp_get_thread_num());
#else
  return 0;
#endif
}

/// Calls body(begin, end) on pieces that cover [0, count), whole multiples of `grain` each. Threads
/// take one after the other, each round of them half of what is left: a thread whose core others
/// use, or whose data come later, gets fewer, and none waits long for the last.
template <typename Body>
void for_rows(int team, size_t count, size_t grain, const Body& body) {
  const size_t grains = (count + grain - 1) / grain;
  const auto threads = static_cast<size_t>(std::max(team, 1));
  if (threads == 1 || grains < 2) return body(size_t{0}, count);
  constexpr size_t kRounds = 5;
#ifdef _OPENMP
#pragma omp parallel for num_threads(team) schedule(dynamic, 1)
#endif
  for (size_t piece = 0; piece < kRounds * threads; ++piece) {
    const size_t round = piece / threads, part = piece % threads, left = grains >> round;
    const size_t all = round + 1 == kRounds ? left : left - left / 2;
    const size_t first = grains - left;
    const size_t begin = (first + all * part / threads) * grain;
    const size_t end = std::min((first + all * (part + 1) / threads) * grain, count);
    if (begin < end) body(begin, end);
  }
}

}  // namespace stallscope::trainer
