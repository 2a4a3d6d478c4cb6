#include "analyze/tree_calls.h"

#include <algorithm>
#include <cmath>

#include "analyze/statistics.h"

namespace stallscope {
namespace {

constexpr std::string_view kCounter = "leaves";
/// Two sizes must differ by this factor before a growth is fitted to them.
constexpr double kFewestSpread = 1.5;

}  // namespace

TreeCalls::TreeCalls(const Trace& trace, const HostThread& thread) : trace_(trace) {
  std::map<EventId, EventId> last;  // by the range around: the latest one inside it
  for (EventId id = thread.first; id < thread.last; ++id) {
    if (trace.kinds()[id] == EventKind::range) {
      last[thread.parent(id)] = id;
    } else if (trace.kinds()[id] == EventKind::counter && trace.name(id) == kCounter) {
      const auto range = last.find(thread.parent(id));
      const std::optional<double> value = trace.number(id, kKeyValue);
      if (range == last.end() || !value || !(*value >= 1)) continue;
      leaves_[range->second] = *value;
      sizes_[trace.names()[range->second]];
    }
  }
}

bool TreeCalls::add(EventId range, ObservationBuilder& row) {
  const auto sizes = sizes_.find(trace_.names()[range]);
  if (sizes == sizes_.end()) return false;
  const auto duration = static_cast<double>(trace_.durations()[range]);
  row.median["call_ns"].push_back(duration);
  const auto leaves = leaves_.find(range);
  if (leaves == leaves_.end()) return true;
  row.median["leaves"].push_back(leaves->second);
  row.median["ns_per_leaf"].push_back(duration / leaves->second);
  sizes->second.emplace_back(leaves->second, duration);
  return true;
}

void TreeCalls::finish(ObservationBuilder& row, StringId name) const {
  const auto leaves = row.median.find("leaves");
  if (leaves == row.median.end()) return;
  const auto [least, most] = std::ranges::minmax(leaves->second);
  if (most > least) row.numbers["leaves_max"] = most;
  if (const std::optional<double> exponent = growth(name)) row.numbers["growth"] = *exponent;
}

// The slope of log(time) over log(leaves), through the median call of each size.
std::optional<double> TreeCalls::growth(StringId name) const {
  std::map<double, std::vector<double>> times;
  for (const auto& [leaves, ns] : sizes_.at(name)) times[leaves].push_back(std::max(ns, 1.0));
  if (times.empty() || times.rbegin()->first < kFewestSpread * times.begin()->first)
    return std::nullopt;
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [leaves, ns] : times) {
    const double size = std::log(leaves), time = std::log(median_of(ns));
    n += 1;
    x += size;
    y += time;
    xx += size * size;
    xy += size * time;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

}  // namespace stallscope
