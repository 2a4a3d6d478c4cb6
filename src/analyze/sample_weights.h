// How much time each stack sample of a thread stands for.
#pragma once

#include <algorithm>
#include <vector>

#include "analyze/process_index.h"
#include "analyze/statistics.h"

namespace stallscope {

/// Calls visit(event, nanoseconds) for every sample of `thread`, in order: its own duration, else
/// the time to the next one, at most three periods.
template <typename Visit>
void for_each_sample(const Trace& trace, const HostThread& thread, const Visit& visit) {
  std::vector<EventId> samples;
  for (EventId id = thread.first; id < thread.last; ++id)
    if (trace.kinds()[id] == EventKind::sample) samples.push_back(id);
  constexpr size_t kEnough = 10'000;
  std::vector<double> distances;
  for (size_t i = 1; i < samples.size() && distances.size() < kEnough; ++i)
    distances.push_back(
        static_cast<double>(trace.starts()[samples[i]] - trace.starts()[samples[i - 1]]));
  const auto period = static_cast<Ns>(median_of(std::move(distances)));
  for (size_t i = 0; i < samples.size(); ++i) {
    const EventId id = samples[i];
    const Ns own = trace.durations()[id], start = trace.starts()[id];
    const Ns until = i + 1 < samples.size() ? trace.starts()[samples[i + 1]] : start + period;
    visit(id, static_cast<double>(own > 0 ? own : std::min(until - start, 3 * period)));
  }
}

}  // namespace stallscope
