#include "report/track_lanes.h"

namespace stallscope {

bool is_slice(EventKind kind) {
  switch (kind) {
    case EventKind::range:
    case EventKind::api:
    case EventKind::kernel:
    case EventKind::memcpy:
    case EventKind::memset:
    case EventKind::sync:
    case EventKind::graph_launch:
    case EventKind::collective:
    case EventKind::thread_wait:
    case EventKind::overhead:
      return true;
    case EventKind::event_record:
    case EventKind::stream_wait:
    case EventKind::sample:
    case EventKind::alloc:
    case EventKind::counter:
    case EventKind::marker:
      return false;
  }
  return false;
}

std::vector<SliceMark> slice_marks(const Trace& trace, TrackId track) {
  std::vector<SliceMark> marks;
  std::vector<std::vector<EventId>> open;  // per lane, outermost first
  const auto close_until = [&](Ns at) {
    for (unsigned lane = 0; lane < open.size(); ++lane)
      while (!open[lane].empty() && trace.end(open[lane].back()) <= at) {
        marks.push_back({open[lane].back(), lane, false});
        open[lane].pop_back();
      }
  };
  const auto [first, last] = trace.rows(track);
  for (EventId id = first; id < last; ++id) {
    if (!is_slice(trace.kinds()[id])) continue;
    close_until(trace.starts()[id]);
    unsigned lane = 0;
    while (lane < open.size() && !open[lane].empty() &&
           trace.end(open[lane].back()) < trace.end(id))
      ++lane;
    if (lane == open.size()) open.emplace_back();
    open[lane].push_back(id);
    marks.push_back({id, lane, true});
  }
  close_until(INT64_MAX);
  return marks;
}

}  // namespace stallscope
