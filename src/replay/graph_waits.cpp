// Waits between streams: as the calls or the runtime's own records tell them, else as the times of
// the work do.
#include <algorithm>
#include <map>

#include "replay/graph_builder.h"

namespace stallscope {
namespace {

// Work that starts this long after all that is known to hold it up waited for something else.
constexpr Ns kUnexplained = 15'000;
// It starts this soon after what it waited for.
constexpr Ns kFollows = 10'000;

/// What was issued to a stream, in the order of the calls.
struct Issued {
  Ns call = 0;
  uint32_t work = 0;
};

}  // namespace

// The runtime's own record of each call that records an event or makes a stream wait for one, by
// correlation.
std::unordered_map<uint32_t, EventId> GraphBuilder::event_records(EventKind kind) const {
  std::unordered_map<uint32_t, EventId> records;
  for (TrackId track = 0; track < trace_.tracks.size(); ++track) {
    if (trace_.tracks[track].process != process_) continue;
    const auto [begin, end] = trace_.rows(track);
    for (EventId id = begin; id < end; ++id)
      if (trace_.kinds()[id] == kind && trace_.correlations()[id] != 0)
        records.emplace(trace_.correlations()[id], id);
  }
  return records;
}

int64_t GraphBuilder::stream_of(EventId record) const {
  const Track& track = trace_.tracks[trace_.tracks_of_events()[record]];
  return trace_.integer(record, kKeyStream).value_or(track.id);
}

// A stream that waits for an event waits for the work that had been issued to the recording stream
// by then.
void GraphBuilder::link_event_waits() {
  const std::unordered_map<uint32_t, EventId> waits = event_records(EventKind::stream_wait);
  const std::unordered_map<uint32_t, EventId> recordings = event_records(EventKind::event_record);
  std::map<std::pair<int64_t, int64_t>, uint32_t> recorded;  // (device, event) -> device node
  std::unordered_map<int64_t, std::vector<Issued>> issued;   // by stream
  std::unordered_map<int64_t, std::vector<uint32_t>> pending;
  bool told = !waits.empty();
  const auto last_issued = [&](int64_t stream, Ns by) -> std::optional<uint32_t> {
    const auto items = issued.find(stream);
    if (items == issued.end()) return std::nullopt;
    const auto after = std::ranges::upper_bound(items->second, by, {}, &Issued::call);
    if (after == items->second.begin()) return std::nullopt;
    return std::prev(after)->work;
  };
  for (uint32_t index = 0; index < graph_.nodes.size(); ++index) {
    const GraphNode& node = graph_.nodes[index];
    if (node.kind != GraphNodeKind::call) continue;
    const int64_t device = trace_.integer(node.event, kKeyDevice).value_or(0);
    const auto stream = trace_.integer(node.event, kKeyStream);
    const auto event = trace_.integer(node.event, kKeyEvent);
    switch (static_cast<ApiCall>(trace_.details()[node.event])) {
      case ApiCall::event_record:
        if (!stream || !event) break;
        told = true;
        if (const auto work = last_issued(*stream, node.start)) recorded[{device, *event}] = *work;
        break;
      case ApiCall::stream_wait: {
        if (stream && event) {
          if (const auto work = recorded.find({device, *event}); work != recorded.end())
            pending[*stream].push_back(work->second);
          break;
        }
        const auto wait = waits.find(trace_.correlations()[node.event]);
        if (wait == waits.end()) break;
        const auto correlation =
            static_cast<uint32_t>(trace_.integer(wait->second, kKeyEventRecord).value_or(0));
        const auto recorder = call_of_correlation_.find(correlation);
        auto from = trace_.integer(wait->second, kKeyWaitStream);
        if (const auto recording = recordings.find(correlation);
            !from && recording != recordings.end())
          from = stream_of(recording->second);
        if (recorder == call_of_correlation_.end() || !from) break;
        if (const auto work = last_issued(*from, trace_.starts()[recorder->second]))
          pending[stream_of(wait->second)].push_back(*work);
        break;
      }
      default:
        const auto works = graph_.work_of.find(index);
        if (works == graph_.work_of.end()) break;
        for (uint32_t work : works->second) {
          const int64_t on = trace_.tracks[graph_.nodes[work].lane].id;
          for (uint32_t awaited : pending[on]) link(awaited, work, EdgeKind::event_wait);
          pending[on].clear();
          issued[on].push_back({node.start, work});
        }
    }
  }
  if (!told) infer_waits();
}

// Profilers seldom record waits between streams. Work whose stream was free and whose launch was
// over, and that starts just as work of another stream ends, waited for that.
void GraphBuilder::infer_waits() {
  struct End {
    Ns time = 0;
    uint32_t node = 0;
  };
  std::vector<End> ends;
  for (uint32_t index = 0; index < graph_.nodes.size(); ++index)
    if (graph_.nodes[index].kind == GraphNodeKind::device)
      ends.push_back({graph_.nodes[index].end, index});
  std::ranges::sort(ends, {}, &End::time);
  std::unordered_map<uint32_t, Ns> free_since;  // by stream
  for (uint32_t index = 0; index < graph_.nodes.size(); ++index) {
    const GraphNode& node = graph_.nodes[index];
    if (node.kind != GraphNodeKind::device) continue;
    Ns& free = free_since[node.lane];
    const auto launcher = graph_.launcher_of.find(index);
    if (launcher != graph_.launcher_of.end() &&
        node.start - std::max(free, graph_.nodes[launcher->second].end) > kUnexplained) {
      auto after = std::ranges::upper_bound(ends, node.start, {}, &End::time);
      while (after != ends.begin() && node.start - std::prev(after)->time <= kFollows) {
        --after;
        if (graph_.nodes[after->node].lane == node.lane) continue;
        link(after->node, index, EdgeKind::event_wait);
        break;
      }
    }
    free = std::max(free, node.end);
  }
}

}  // namespace stallscope
