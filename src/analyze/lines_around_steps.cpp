#include "analyze/lines_around_steps.h"

#include <algorithm>
#include <optional>
#include <ranges>

namespace stallscope {

std::set<Line> lines_around_steps(const RankContext& context, SiteTable& sites) {
  if (context.marks.thread == kNoIndex) return {};
  const Trace& trace = context.trace;
  const HostThread& thread = context.index.threads[context.marks.thread];
  const auto events = std::views::iota(thread.first, thread.last);
  std::optional<std::set<Line>> around;
  for (const Interval& host : context.marks.hosts) {
    const auto begin = [&](EventId id) { return trace.starts()[id]; };
    for (auto it = std::ranges::lower_bound(events, host.start, {}, begin);
         it != events.end() && begin(*it) == host.start; ++it) {
      if (trace.kinds()[*it] != EventKind::range || trace.stacks()[*it] == 0) continue;
      std::set<Line> lines;
      for (const Place& place : sites.site(sites.of_stack(trace.stacks()[*it])).stack)
        lines.emplace(place.file, place.line);
      if (!around) {
        around = std::move(lines);
      } else {
        std::erase_if(*around, [&](const Line& line) { return !lines.contains(line); });
      }
      break;
    }
  }
  return around.value_or(std::set<Line>());
}

}  // namespace stallscope
