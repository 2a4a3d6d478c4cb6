#include "analyze/other_threads.h"

#include <algorithm>

namespace stallscope {

std::optional<EventId> sample_at(const Trace& trace, const HostThread& thread, Ns time) {
  constexpr Ns kOldest = 100'000'000;
  const auto starts = trace.starts().subspan(thread.first, thread.last - thread.first);
  auto row = std::ranges::upper_bound(starts, time) - starts.begin();
  while (row-- > 0 && time - starts[static_cast<size_t>(row)] <= kOldest) {
    const EventId id = thread.first + static_cast<EventId>(row);
    if (trace.kinds()[id] == EventKind::sample && trace.stacks()[id] != 0) return id;
  }
  return std::nullopt;
}

}  // namespace stallscope
