#include "analyze/launches.h"

#include <algorithm>
#include <limits>

namespace stallscope {
namespace {

constexpr EventId kNone = std::numeric_limits<EventId>::max();
/// A dense table may be this much larger than the number of calls.
constexpr uint64_t kSparsest = 8;

bool earlier(const Trace& trace, EventId a, EventId b) {
  return trace.starts()[a] != trace.starts()[b] ? trace.starts()[a] < trace.starts()[b] : a < b;
}

}  // namespace

LaunchTable::LaunchTable(const Trace& trace, std::span<const std::pair<EventId, EventId>> rows) {
  const auto kinds = trace.kinds();
  const auto correlations = trace.correlations();
  uint32_t lowest = std::numeric_limits<uint32_t>::max(), highest = 0;
  uint64_t calls = 0;
  for (const auto& [first, last] : rows) {
    for (EventId id = first; id < last; ++id) {
      if (kinds[id] != EventKind::api) continue;
      has_device_calls_ = true;
      if (correlations[id] == 0) continue;
      lowest = std::min(lowest, correlations[id]);
      highest = std::max(highest, correlations[id]);
      ++calls;
    }
  }
  if (calls == 0) return;
  const uint64_t width = uint64_t{highest} - lowest + 1;
  const bool dense = width <= calls * kSparsest + 1024;
  if (dense) {
    lowest_ = lowest;
    dense_.assign(width, kNone);
  } else {
    sorted_.reserve(calls);
  }
  std::vector<std::pair<uint32_t, EventId>> later;  // calls whose id an earlier one carries too
  for (const auto& [first, last] : rows) {
    for (EventId id = first; id < last; ++id) {
      if (kinds[id] != EventKind::api || correlations[id] == 0) continue;
      if (!dense) {
        sorted_.emplace_back(correlations[id], id);
        continue;
      }
      EventId& slot = dense_[correlations[id] - lowest];
      if (slot != kNone)
        later.emplace_back(correlations[id], std::max(id, slot, [&](auto a, auto b) {
                             return earlier(trace, a, b);
                           }));
      if (slot == kNone || earlier(trace, id, slot)) slot = id;
    }
  }
  std::ranges::sort(sorted_, [&trace](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : earlier(trace, a.second, b.second);
  });
  for (size_t i = 1; i < sorted_.size(); ++i)
    if (sorted_[i].first == sorted_[i - 1].first) later.push_back(sorted_[i]);
  find_reused(trace, std::move(later));
}

void LaunchTable::find_reused(const Trace& trace, std::vector<std::pair<uint32_t, EventId>> later) {
  std::ranges::sort(later, [&trace](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : earlier(trace, a.second, b.second);
  });
  for (const auto& [correlation, call] : later) {
    const bool again = !reused_.empty() && reused_.back().correlation == correlation;
    const EventId before = again ? reused_.back().call : first_of(correlation);
    const bool inside = trace.tracks_of_events()[call] == trace.tracks_of_events()[before] &&
                        trace.starts()[call] < trace.end(before);
    if (!inside) reused_.push_back({correlation, trace.starts()[call], call});
  }
}

EventId LaunchTable::find(uint32_t correlation, Ns time) const {
  const EventId first = first_of(correlation);
  if (reused_.empty() || first == kNone) return first;
  const auto after =
      std::ranges::upper_bound(reused_, std::pair(correlation, time), {},
                               [](const Reused& r) { return std::pair(r.correlation, r.start); });
  const bool found = after != reused_.begin() && std::prev(after)->correlation == correlation;
  return found ? std::prev(after)->call : first;
}

EventId LaunchTable::first_of(uint32_t correlation) const {
  if (correlation == 0) return kNone;
  if (!dense_.empty()) {
    const uint64_t at = uint64_t{correlation} - lowest_;
    return correlation >= lowest_ && at < dense_.size() ? dense_[at] : kNone;
  }
  const auto it =
      std::ranges::lower_bound(sorted_, correlation, {}, &std::pair<uint32_t, EventId>::first);
  return it != sorted_.end() && it->first == correlation ? it->second : kNone;
}

}  // namespace stallscope
