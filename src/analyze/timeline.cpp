#include "analyze/timeline.h"

#include <algorithm>

#include "analyze/statistics.h"

namespace stallscope {
namespace {

constexpr size_t kMaxSlicesPerTrackAround = 40;
constexpr size_t kMaxSlices = 3000;
constexpr size_t kMaxNameLength = 160;
/// A window is at least this wide, so that neighbours show, and at most this.
constexpr Ns kLeastMargin = 5'000, kMostMargin = 2'000'000;

std::string track_name(const Trace& trace, TrackId id) {
  const Track& track = trace.tracks[id];
  std::string name(trace.text(track.name));
  const std::string number = std::to_string(track.id);
  if (track.kind == TrackKind::stream)
    return "device " + std::to_string(track.device) + " stream " + number;
  return name.empty() ? "thread " + number : name + " (" + number + ")";
}

bool is_drawn(EventKind kind) {
  return kind != EventKind::sample && kind != EventKind::counter && kind != EventKind::marker &&
         kind != EventKind::alloc;
}

// Adds what lies in [from, to) on a track, longest first when it must be cut.
void add_track(const Trace& trace, TrackId track, Ns from, Ns to, size_t most, EventId highlighted,
               EventId around, Timeline& timeline) {
  const auto [first, last] = trace.rows(track);
  std::vector<EventId> ids;
  const auto starts = trace.starts();
  auto row = static_cast<EventId>(
      std::lower_bound(starts.begin() + first, starts.begin() + last, from) - starts.begin());
  // What began before the window but reaches into it: enclosing rows come shortly before.
  constexpr EventId kLookBack = 64;
  for (EventId id = row - std::min(row - first, kLookBack); id < row; ++id)
    if (is_drawn(trace.kinds()[id]) && trace.end(id) > from) ids.push_back(id);
  constexpr size_t kMostScanned = 200'000;
  for (size_t scanned = 0; row < last && starts[row] < to && scanned < kMostScanned;
       ++row, ++scanned)
    if (is_drawn(trace.kinds()[row])) ids.push_back(row);
  if (around != kNoEvent && std::ranges::find(ids, around) == ids.end()) ids.push_back(around);
  if (ids.size() > most) {
    std::ranges::stable_sort(ids, [&](EventId a, EventId b) {
      const bool kept_a = a == highlighted, kept_b = b == highlighted;
      if (kept_a != kept_b) return kept_a;
      return trace.durations()[a] > trace.durations()[b];
    });
    ids.resize(most);
    std::ranges::sort(ids);
  }
  if (ids.empty()) return;
  const auto at = static_cast<uint32_t>(timeline.tracks.size());
  timeline.tracks.push_back(track_name(trace, track));
  for (EventId id : ids) {
    Slice slice;
    const Ns start = std::max(trace.starts()[id], from), end = std::min(trace.end(id), to);
    slice.start = start - from;
    slice.duration = std::max<Ns>(end - start, 0);
    slice.track = at;
    slice.name = trace.full_name(id).substr(0, kMaxNameLength);
    slice.kind = to_string(trace.kinds()[id]);
    slice.highlighted = id == highlighted;
    timeline.slices.push_back(std::move(slice));
  }
}

void add_idle(const RankContext& context, Ns from, Ns to, Timeline& timeline) {
  const auto first = std::ranges::lower_bound(context.idle, from, {}, &IdlePiece::end);
  for (auto it = first; it != context.idle.end() && it->start < to; ++it) {
    if (it->end <= from) continue;
    timeline.idle.emplace_back(std::max(it->start, from) - from, it->step_class);
  }
}

std::vector<TrackId> streams_of(const RankContext& context) {
  std::vector<TrackId> tracks;
  for (TrackId id = 0; id < context.trace.tracks.size(); ++id) {
    const Track& track = context.trace.tracks[id];
    if (context.work != nullptr && track.process == context.index.process &&
        track.kind == TrackKind::stream && track.device == context.work->device)
      tracks.push_back(id);
  }
  return tracks;
}

}  // namespace

Timeline timeline_around(const RankContext& context, EventId event) {
  const Trace& trace = context.trace;
  Timeline timeline;
  const Ns start = trace.starts()[event], duration = trace.durations()[event];
  const Ns margin = std::clamp(duration / 2, kLeastMargin, kMostMargin);
  const Ns from = start - margin, to = start + duration + margin;
  timeline.duration = to - from;
  timeline.rank = trace.processes[context.index.process].rank;
  const TrackId own = trace.tracks_of_events()[event];
  const bool on_thread = trace.tracks[own].kind == TrackKind::thread;
  const uint32_t step = on_thread ? context.step_of_host(start) : kNoIndex;
  timeline.step = step == kNoIndex ? 0 : step;
  if (on_thread) add_track(trace, own, from, to, kMaxSlicesPerTrackAround, event, event, timeline);
  for (TrackId stream : streams_of(context))
    add_track(trace, stream, from, to, kMaxSlicesPerTrackAround, event,
              stream == own ? event : kNoEvent, timeline);
  add_idle(context, from, to, timeline);
  return timeline;
}

Timeline representative_timeline(const RankContext& context) {
  Timeline timeline;
  if (context.used.empty()) return timeline;
  std::vector<Ns> lengths;
  for (uint32_t i : context.used)
    lengths.push_back(context.steps[i].window_end - context.steps[i].window_start);
  const Step& step = context.steps[context.used[median_step(lengths)]];
  // The host runs ahead: its part of the step comes first.
  const Ns from = std::min(step.host_start, step.window_start), to = step.window_end;
  timeline.duration = to - from;
  timeline.step = step.index;
  timeline.rank = context.trace.processes[context.index.process].rank;
  std::vector<TrackId> tracks;
  for (const HostThread& thread : context.index.threads) tracks.push_back(thread.track);
  for (TrackId stream : streams_of(context)) tracks.push_back(stream);
  if (tracks.empty()) return timeline;
  const size_t each = std::max<size_t>(kMaxSlices / tracks.size(), 1);
  for (TrackId track : tracks)
    add_track(context.trace, track, from, to, each, kNoEvent, kNoEvent, timeline);
  constexpr size_t kMaxIdle = 2000;
  add_idle(context, from, to, timeline);
  if (timeline.idle.size() > kMaxIdle) timeline.idle.resize(kMaxIdle);
  return timeline;
}

}  // namespace stallscope
