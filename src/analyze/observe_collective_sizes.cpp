// collective-size: how fast collectives of one operation, group and size run,
// how much of them is hidden, and what waits for their results.
#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/collectives.h"
#include "analyze/statistics.h"

namespace stallscope {
namespace {

/// Rows kept, by total time.
constexpr size_t kMostSizes = 50;
/// What starts this soon after a collective had waited for it.
constexpr Ns kFollows = 10'000;
/// What returns this soon after a collective had waited for it.
constexpr Ns kReturns = 50'000;
/// Activities looked at behind a collective.
constexpr size_t kLookedAt = 8;

// The blocking call that a thread was in when the collective ended, and that returned with it.
std::string awaiting_call(const RankContext& context, const Collective& c) {
  for (const HostThread& thread : context.index.threads) {
    const auto after = std::ranges::upper_bound(thread.blocking, c.end, {}, &BlockingCall::start);
    if (after == thread.blocking.begin()) continue;
    const BlockingCall& call = *std::prev(after);
    if (call.end >= c.end && call.end <= c.end + kReturns)
      return "the host in " + std::string(context.trace.name(call.id));
  }
  return {};
}

// The operator, or kernel, that was issued before the collective ended and starts with its end.
std::string awaiting_work(const RankContext& context, SiteTable& sites, const Collective& c) {
  const Trace& trace = context.trace;
  const std::vector<EventId>& activities = context.work->activities;
  const auto first = std::ranges::lower_bound(activities, c.end, {},
                                              [&](EventId id) { return trace.starts()[id]; });
  size_t looked = 0;
  for (auto it = first; it != activities.end() && looked < kLookedAt; ++it, ++looked) {
    if (trace.starts()[*it] > c.end + kFollows) break;
    if (activity_of(trace, *it, context.collective_name) == Activity::communication) continue;
    const EventId launch = context.work->launches[static_cast<size_t>(it - activities.begin())];
    if (launch == kNoEvent || trace.starts()[launch] >= c.end) continue;
    const std::string& op = sites.site(sites.of(launch)).op;
    return op.empty() ? std::string(trace.name(*it)) : op;
  }
  return {};
}

struct Size {
  std::vector<double> durations, algorithm, bus;
  double exposed = 0, hidden = 0;
  int64_t world_size = 0;
  std::map<std::string, size_t> awaited_by;
};

}  // namespace

void observe_collective_sizes(const RankContext& context, SiteTable& sites,
                              const std::vector<Collective>& collectives,
                              Observations& observations) {
  std::map<std::tuple<std::string, std::string, double>, Size> sizes;  // bytes; -1 = unknown
  for (const Collective& c : collectives) {
    const uint32_t used = c.step == kNoIndex ? kNoIndex : context.used_rank[c.step];
    if (used == kNoIndex || c.on_host || c.end <= c.start) continue;
    Size& size = sizes[{c.operation, c.group, c.bytes.value_or(-1)}];
    const auto duration = static_cast<double>(c.end - c.start);
    size.durations.push_back(duration);
    size.hidden += static_cast<double>(c.hidden);
    size.exposed += duration - static_cast<double>(c.hidden);
    size.world_size = std::max(size.world_size, c.world_size);
    if (c.bytes) {
      const double gb_per_s = *c.bytes / duration;  // bytes per nanosecond
      size.algorithm.push_back(gb_per_s);
      size.bus.push_back(gb_per_s * bus_factor(c.operation, static_cast<double>(c.world_size)));
    }
    std::string awaiting = awaiting_work(context, sites, c);
    if (awaiting.empty()) awaiting = awaiting_call(context, c);
    if (!awaiting.empty()) ++size.awaited_by[awaiting];
  }
  const Process& process = context.trace.processes[context.index.process];
  const auto steps = static_cast<uint32_t>(context.used.size());
  std::vector<Observation> rows;
  for (const auto& [key, size] : sizes) {
    const auto& [operation, group, bytes] = key;
    Observation row;
    row.kind = "collective-size";
    row.rank = process.rank;
    row.pid = process.pid;
    row.device = context.work->device;
    row.subject = operation;
    row.texts["operation"] = operation;
    row.texts["group"] = group;
    row.count.total = static_cast<double>(size.durations.size());
    row.count.steps = row.count.steps_affected = steps;
    row.numbers["duration_ns"] = median_of(size.durations);
    row.numbers["exposed_ns"] = size.exposed / steps;
    row.numbers["hidden_ns"] = size.hidden / steps;
    if (bytes >= 0) row.numbers["bytes"] = bytes;
    if (size.world_size > 0) row.numbers["world_size"] = static_cast<double>(size.world_size);
    if (!size.algorithm.empty()) {
      row.numbers["algorithm_gb_per_s"] = median_of(size.algorithm);
      row.numbers["bus_gb_per_s"] = median_of(size.bus);
    }
    const auto most = std::ranges::max_element(
        size.awaited_by, [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != size.awaited_by.end()) {
      row.texts["awaited_by"] = most->first;
      row.numbers["awaited_share"] =
          static_cast<double>(most->second) / static_cast<double>(size.durations.size());
    }
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater{}, [](const Observation& row) {
    return row.numbers.at("exposed_ns") + row.numbers.at("hidden_ns");
  });
  if (rows.size() > kMostSizes) rows.resize(kMostSizes);
  std::ranges::move(rows, std::back_inserter(observations));
}

}  // namespace stallscope
