// pageable-copy, copy and memset: transfers by place.
#include <map>
#include <tuple>

#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"

namespace stallscope {
namespace {

std::string_view kind_of(const Trace& trace, EventId id) {
  if (trace.kinds()[id] == EventKind::memset) return "memset";
  return host_memory(trace, id) == "pageable" ? "pageable-copy" : "copy";
}

// Names such as "Memcpy HtoD (Pinned -> Device)" say the same as the direction, which is all that
// there is of copies without one.
std::string subject_of(const Trace& trace, EventId id) {
  if (trace.kinds()[id] == EventKind::memset) return "memset";
  if (!trace.name(id).empty()) return std::string(trace.name(id));
  return "a " + std::string(detail_name(EventKind::memcpy, trace.details()[id])) + " copy";
}

}  // namespace

void observe_copies(const RankContext& context, SiteTable& sites, Observations& observations) {
  const Trace& trace = context.trace;
  const DeviceWork& work = *context.work;
  using GroupKey = std::tuple<std::string_view, SiteId, StringId>;
  std::map<GroupKey, ObservationBuilder> groups;
  for (size_t i = 0; i < work.activities.size(); ++i) {
    const EventId id = work.activities[i];
    const EventKind kind = trace.kinds()[id];
    if (kind != EventKind::memcpy && kind != EventKind::memset) continue;
    const uint32_t step = context.step_work.step_of[i];
    const uint32_t used = step == kNoIndex ? kNoIndex : context.used_rank[step];
    if (used == kNoIndex) continue;
    const EventId call = work.launches[i];
    const SiteId site = sites.of_work(id, call);
    const std::string_view row = kind_of(trace, id);
    ObservationBuilder& group = groups[{row, site, trace.names()[id]}];
    const auto duration = static_cast<double>(trace.durations()[id]);
    const Ns hidden = overlap(context.usage.compute, trace.starts()[id], trace.end(id));
    if (group.subject.empty()) {
      group.site = site;
      group.subject = subject_of(trace, id);
      if (kind == EventKind::memcpy) group.texts["copy"] = detail_name(kind, trace.details()[id]);
    }
    group.count.add(used, 1);
    group.per_step["duration_ns"].add(used, duration);
    group.per_step["exposed_ns"].add(used, duration - static_cast<double>(hidden));
    if (const auto bytes = trace.integer(id, kKeyBytes)) {
      group.median["bytes"].push_back(static_cast<double>(*bytes));
      group.per_step["bytes_per_step"].add(used, static_cast<double>(*bytes));
    }
    if (call != kNoEvent) {
      group.blocked.add(used, static_cast<double>(trace.durations()[call]));
      const bool async = static_cast<ApiCall>(trace.details()[call]) == ApiCall::copy;
      if (row == "pageable-copy") group.numbers["async_call"] = async;
    }
    const EventId asked = call == kNoEvent ? id : call;
    group.events.push_back(asked);
    group.consider(duration, asked, trace.stacks()[asked]);
  }
  RowMaker maker;
  for (const auto& [key, group] : groups) maker.add(std::get<0>(key), group);
  maker.make(context, sites, observations);
}

}  // namespace stallscope
