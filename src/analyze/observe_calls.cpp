// allocation, compile, overhead, garbage-collection: calls that cost in themselves.
#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>

#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"

namespace stallscope {
namespace {

/// The calls of a rank that start collectives.
std::unordered_set<EventId> collective_launches(const RankContext& context) {
  std::unordered_set<EventId> calls;
  if (context.work == nullptr) return calls;
  const Trace& trace = context.trace;
  for (size_t i = 0; i < context.work->activities.size(); ++i) {
    const EventId id = context.work->activities[i];
    const bool collective =
        trace.kinds()[id] == EventKind::collective || context.collective_name[trace.names()[id]];
    if (collective && context.work->launches[i] != kNoEvent)
      calls.insert(context.work->launches[i]);
  }
  return calls;
}

// Whether the next device work that the thread starts after `call` is a collective.
bool before_collective(const Trace& trace, const HostThread& thread, EventId call,
                       const std::unordered_set<EventId>& collectives) {
  constexpr EventId kLookAhead = 64;
  for (EventId id = call + 1; id < thread.last && id - call < kLookAhead; ++id) {
    if (trace.kinds()[id] == EventKind::collective || collectives.contains(id)) return true;
    if (trace.kinds()[id] != EventKind::api) continue;
    const auto api = static_cast<ApiCall>(trace.details()[id]);
    if (api == ApiCall::collective) return true;
    if (api == ApiCall::launch || api == ApiCall::graph_launch || api == ApiCall::copy ||
        api == ApiCall::copy_blocking || api == ApiCall::memset)
      return false;
  }
  return false;
}

}  // namespace

void observe_calls(const RankContext& context, SiteTable& sites, Observations& observations) {
  const Trace& trace = context.trace;
  const ThreadIdle idle(context);
  const std::unordered_set<EventId> collectives = collective_launches(context);
  using GroupKey = std::tuple<std::string_view, SiteId, StringId>;
  std::map<GroupKey, ObservationBuilder> groups;
  for (uint32_t t = 0; t < context.index.threads.size(); ++t) {
    const HostThread& thread = context.index.threads[t];
    Ns reached = std::numeric_limits<Ns>::min();
    for (EventId id = thread.first; id < thread.last; ++id) {
      std::string_view kind, call;
      if (trace.kinds()[id] == EventKind::api) {
        const auto api = static_cast<ApiCall>(trace.details()[id]);
        if (api == ApiCall::alloc || api == ApiCall::free || api == ApiCall::host_alloc)
          kind = "allocation";
        if (api == ApiCall::module_load) kind = "compile";
        call = to_string(api);
      } else if (trace.kinds()[id] == EventKind::range &&
                 context.natures[trace.names()[id]] & kCompile) {
        kind = "compile";
        call = "compile";
      }
      // A driver call inside the runtime's call, or a compilation inside another, is the same one.
      if (kind.empty() || trace.end(id) <= reached) continue;
      reached = trace.end(id);
      const Ns start = trace.starts()[id];
      const uint32_t used = context.used_at(start);
      const bool startup = used == kNoIndex && context.in_startup(start);
      if (used == kNoIndex && !startup) continue;
      const SiteId site = sites.of(id);
      ObservationBuilder& group = groups[{kind, site, trace.names()[id]}];
      if (group.subject.empty()) {
        group.site = site;
        group.subject = trace.name(id);
        group.texts["call"] = call;
      }
      const auto duration = static_cast<double>(trace.durations()[id]);
      if (startup) {
        group.one_time_ns += duration;
        continue;
      }
      group.count.add(used, 1);
      group.blocked.add(used, duration);
      group.idle.add(used, static_cast<double>(idle.overlap(t, start, trace.end(id))));
      if (const auto bytes = trace.integer(id, kKeyBytes))
        group.median["bytes"].push_back(static_cast<double>(*bytes));
      if (kind == "allocation" && before_collective(trace, thread, id, collectives))
        group.numbers["before_collective"] += 1;
      group.events.push_back(id);
      group.consider(duration, id, trace.stacks()[id]);
    }
  }
  RowMaker maker;
  for (auto& [key, group] : groups) {
    if (std::get<0>(key) == "allocation" && !group.events.empty())
      group.numbers["before_collective"] /= static_cast<double>(group.events.size());
    maker.add(std::get<0>(key), group);
  }
  maker.make(context, sites, observations);
}

void observe_overhead(const RankContext& context, SiteTable& sites, Observations& observations) {
  const Trace& trace = context.trace;
  const ThreadIdle idle(context);
  ObservationBuilder overhead;
  std::map<SiteId, ObservationBuilder> collections;
  // Without steps or a device that waits, collections cannot be told from those of a program's
  // start.
  const bool has_steps = context.work != nullptr || !context.marks.hosts.empty();
  for (uint32_t t = 0; t < context.index.threads.size(); ++t) {
    const HostThread& thread = context.index.threads[t];
    for (EventId id = thread.first; id < thread.last; ++id) {
      const bool is_overhead = trace.kinds()[id] == EventKind::overhead;
      const bool collects = has_steps && trace.kinds()[id] == EventKind::range &&
                            context.natures[trace.names()[id]] & kCollection;
      if (!is_overhead && !collects) continue;
      const uint32_t used = context.used_at(trace.starts()[id]);
      if (used == kNoIndex) continue;
      const SiteId site = collects ? sites.of(id) : 0;
      ObservationBuilder& group = collects ? collections[site] : overhead;
      const auto duration = static_cast<double>(trace.durations()[id]);
      group.site = site;
      if (group.subject.empty()) group.subject = trace.name(id);
      group.count.add(used, 1);
      group.blocked.add(used, duration);
      group.idle.add(used, static_cast<double>(idle.overlap(t, trace.starts()[id], trace.end(id))));
      group.consider(duration, id);
      if (collects) {
        double& longest = group.numbers["longest_ns"];
        longest = std::max(longest, duration);
      }
    }
  }
  RowMaker maker;
  if (!overhead.worst.empty()) {
    overhead.numbers["fraction"] = overhead.blocked.over(context.used.size()).per_step() /
                                   static_cast<double>(std::max<Ns>(context.step_mean, 1));
    maker.add("overhead", overhead);
  }
  for (const auto& [site, group] : collections) maker.add("garbage-collection", group);
  maker.make(context, sites, observations);
}

}  // namespace stallscope
