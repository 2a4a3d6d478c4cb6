// lock-wait: the step thread sleeps until another thread of the program lets go of Python's lock.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"
#include "analyze/other_threads.h"
#include "analyze/sample_weights.h"
#include "trace/sample_state.h"

namespace stallscope {
namespace {

/// What one function of the other threads keeps the step waiting for.
struct Row {
  ObservationBuilder builder;
  std::map<SiteId, double> sites;         ///< its lines, by weight
  std::map<std::string, double> waiting;  ///< lines of the step thread, by weight
  uint64_t samples = 0;
};

const HostThread* thread_numbered(const RankContext& context, int64_t tid) {
  const auto found = std::ranges::find_if(context.index.threads, [&](const HostThread& thread) {
    return context.trace.tracks[thread.track].id == tid;
  });
  return found == context.index.threads.end() ? nullptr : &*found;
}

std::string path_and_line(const Place& place) {
  return place.file + ":" + std::to_string(place.line);
}

}  // namespace

void observe_lock_waits(const RankContext& context, SiteTable& sites, Observations& observations) {
  const Trace& trace = context.trace;
  const ThreadIdle idle(context);
  std::map<std::pair<std::string, std::string>, Row> rows;  // by file and function
  for (uint32_t t = 0; t < context.index.threads.size(); ++t) {
    if (context.marks.thread != kNoIndex && t != context.marks.thread) continue;
    for_each_sample(trace, context.index.threads[t], [&](EventId id, double weight) {
      const uint32_t used = context.used_at(trace.starts()[id]);
      if (used == kNoIndex ||
          static_cast<SampleState>(trace.details()[id]) != SampleState::lock_wait)
        return;
      const std::optional<int64_t> holder = trace.integer(id, kKeyWakerTid);
      const HostThread* const thread = holder ? thread_numbered(context, *holder) : nullptr;
      const std::optional<EventId> theirs =
          thread == nullptr ? std::nullopt : sample_at(trace, *thread, trace.starts()[id]);
      const SiteId site = theirs ? sites.of_stack(trace.stacks()[*theirs]) : 0;
      const Place& held_by = sites.site(site).place;
      Row& row = rows[{held_by.file, held_by.function}];
      ObservationBuilder& builder = row.builder;
      row.sites[site] += weight;
      if (thread != nullptr && trace.tracks[thread->track].name != 0)
        builder.texts["thread"] = trace.text(trace.tracks[thread->track].name);
      builder.blocked.add(used, weight);
      builder.idle.add(
          used, static_cast<double>(idle.overlap(t, trace.starts()[id],
                                                 trace.starts()[id] + static_cast<Ns>(weight))));
      builder.consider(weight, id);
      if (const Place& own = sites.site(sites.of_stack(trace.stacks()[id])).place; own.known())
        row.waiting[path_and_line(own)] += weight;
      ++row.samples;
    });
  }
  const double step_total =
      static_cast<double>(context.step_mean) * static_cast<double>(context.used.size());
  const auto heaviest = [](const auto& weights) {
    return std::ranges::max_element(weights, {}, [](const auto& it) { return it.second; })->first;
  };
  for (auto& [function, row] : rows) {
    const double blocked = row.builder.blocked.total();
    if (step_total <= 0 || blocked < kLeastHostShare * step_total) continue;
    row.builder.site = heaviest(row.sites);
    row.builder.subject = function.second.empty() ? "another thread" : function.second;
    row.builder.numbers["samples"] = static_cast<double>(row.samples);
    row.builder.numbers["fraction"] = blocked / step_total;
    if (!row.waiting.empty()) row.builder.texts["waiting"] = heaviest(row.waiting);
    observations.push_back(row.builder.finish(context, sites, "lock-wait"));
  }
}

}  // namespace stallscope
