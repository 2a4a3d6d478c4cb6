// host-work: the step thread's own time in ranges that people and annotations mark.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"
#include "analyze/tree_calls.h"

namespace stallscope {

void observe_host_work(const RankContext& context, SiteTable& sites, Observations& observations) {
  if (context.marks.thread == kNoIndex) return;
  const Trace& trace = context.trace;
  const HostThread& thread = context.index.threads[context.marks.thread];
  // Time of each range that ranges, waits and collectives inside it do not cover.
  std::vector<Ns> inside(thread.last - thread.first, 0);
  for (EventId id = thread.first; id < thread.last; ++id) {
    const EventKind kind = trace.kinds()[id];
    const EventId around = thread.parent(id);
    if (around != kNoEvent && kind != EventKind::sample && kind != EventKind::api)
      inside[around - thread.first] += trace.durations()[id];
  }
  std::map<std::pair<SiteId, StringId>, ObservationBuilder> groups;
  TreeCalls trees(trace, thread);
  for (EventId id = thread.first; id < thread.last; ++id) {
    if (trace.kinds()[id] != EventKind::range) continue;
    const uint8_t nature = context.natures[trace.names()[id]];
    if (nature & (kFramework | kInputWait | kCommunication | kCollection)) continue;
    const auto self =
        static_cast<double>(std::max<Ns>(trace.durations()[id] - inside[id - thread.first], 0));
    const uint32_t used = context.used_at(trace.starts()[id]);
    const bool startup = used == kNoIndex && context.in_startup(trace.starts()[id]);
    if (used == kNoIndex && !startup) continue;
    const SiteId site = sites.of(id);
    ObservationBuilder& row = groups[{site, trace.names()[id]}];
    row.site = site;
    if (row.subject.empty()) row.subject = trace.name(id);
    const bool over_tree = trees.add(id, row);
    if (startup) {
      row.one_time_ns += over_tree ? static_cast<double>(trace.durations()[id]) : self;
      row.numbers["one_time_calls"] += 1;
      continue;
    }
    row.count.add(used, 1);
    row.blocked.add(used, static_cast<double>(trace.durations()[id]));
    row.per_step["self_ns"].add(used, self);
    row.consider(self, id);
  }
  const double step_total =
      static_cast<double>(context.step_mean) * static_cast<double>(context.used.size());
  RowMaker maker;
  for (auto& [key, row] : groups) {
    const double self = row.per_step["self_ns"].over(context.used.size()).total;
    if (self < kLeastHostShare * step_total && row.one_time_ns < kLeastOneTime) continue;
    row.numbers["fraction"] = step_total > 0 ? self / step_total : 0;
    row.texts["phase"] = self > 0 ? "step" : "startup";
    trees.finish(row, key.second);
    maker.add("host-work", row);
  }
  maker.make(context, sites, observations);
}

}  // namespace stallscope
