#include "analyze/timeline.h"

#include <algorithm>

#include "analyze/statistics.h"

namespace stallscope {
namespace {

constexpr size_t kMaxSlicesPerTrackAround = 40;
constexpr size_t kMaxSlices = 3000;
constexpr size_t kMaxNameLength = 160;
// More cannot be told apart on a screen.
constexpr size_t kMaxClassesAround = 200, kMaxClasses = 1500;
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

struct ClassSpan {
  Ns start = 0, end = 0;
  StepClass step_class = StepClass::other;
};

// Pieces of one gap have the gap's times: they are laid one behind the other.
std::vector<ClassSpan> idle_spans(const RankContext& context, Ns from, Ns to) {
  std::vector<ClassSpan> spans;
  const IdlePiece* before = nullptr;
  auto it = std::ranges::lower_bound(context.idle, from, {}, &IdlePiece::end);
  for (; it != context.idle.end() && it->start < to; before = &*it++) {
    const bool goes_on = before != nullptr && before->start == it->start;
    const Ns start = goes_on ? spans.back().end : it->start;
    spans.push_back({start, start + it->length, it->step_class});
  }
  return spans;
}

// The class of each instant of [from, to), busy or idle; outside of steps, idle time is "other".
std::vector<ClassSpan> class_spans(const RankContext& context, Ns from, Ns to) {
  const std::vector<ClassSpan> idle = idle_spans(context, from, to);
  std::vector<Ns> cuts = {from, to};
  const auto cut = [&](Ns start, Ns end) {
    for (const Ns at : {start, end})
      if (at > from && at < to) cuts.push_back(at);
  };
  const DeviceUsage& usage = context.usage;
  for (const Intervals* busy : {&usage.compute, &usage.compute_or_communication, &usage.busy})
    for (auto it = std::ranges::lower_bound(*busy, from, {}, &Interval::end);
         it != busy->end() && it->start < to; ++it)
      cut(it->start, it->end);
  for (const ClassSpan& span : idle) cut(span.start, span.end);
  std::ranges::sort(cuts);
  std::vector<ClassSpan> spans;
  size_t next = 0;
  for (size_t i = 1; i < cuts.size(); ++i) {
    const Ns start = cuts[i - 1], end = cuts[i];
    if (start == end) continue;
    while (next < idle.size() && idle[next].end <= start) ++next;
    StepClass is = StepClass::other;
    if (overlap(usage.compute, start, end) > 0)
      is = StepClass::compute;
    else if (overlap(usage.compute_or_communication, start, end) > 0)
      is = StepClass::exposed_communication;
    else if (overlap(usage.busy, start, end) > 0)
      is = StepClass::exposed_copy;
    else if (next < idle.size() && idle[next].start <= start)
      is = idle[next].step_class;
    if (!spans.empty() && spans.back().step_class == is)
      spans.back().end = end;
    else
      spans.push_back({start, end, is});
  }
  return spans;
}

// At most `most` of them: equal parts of the time, each with the class that fills most of it.
std::vector<ClassSpan> coarser(const std::vector<ClassSpan>& spans, size_t most) {
  if (spans.size() <= most) return spans;
  const Ns from = spans.front().start, length = spans.back().end - from;
  std::vector<ClassSpan> parts;
  size_t next = 0;
  for (size_t i = 0; i < most; ++i) {
    const auto edge = [&](size_t part) {
      return from + static_cast<Ns>(static_cast<double>(length) * static_cast<double>(part) /
                                    static_cast<double>(most));
    };
    const Ns start = edge(i), end = edge(i + 1);
    ClassTimes times;
    while (next < spans.size() && spans[next].end <= start) ++next;
    for (size_t at = next; at < spans.size() && spans[at].start < end; ++at)
      times[spans[at].step_class] +=
          std::min(spans[at].end, end) - std::max(spans[at].start, start);
    const auto is = static_cast<StepClass>(std::ranges::max_element(times.ns) - times.ns.begin());
    if (parts.empty() || parts.back().step_class != is) parts.push_back({start, end, is});
  }
  return parts;
}

void add_classes(const RankContext& context, Ns from, Ns to, size_t most, Timeline& timeline) {
  if (context.work == nullptr) return;
  for (const ClassSpan& span : coarser(class_spans(context, from, to), most))
    timeline.classes.emplace_back(span.start - from, span.step_class);
}

// Steps without device work have no window to be searched by.
uint32_t step_of_device(const RankContext& context, Ns time) {
  const auto holds = [time](const Step& step) {
    return step.window_start <= time && time < step.window_end;
  };
  const auto step = std::ranges::find_if(context.steps, holds);
  return step == context.steps.end() ? kNoIndex : step->index;
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
  const uint32_t step = on_thread ? context.step_of_host(start) : step_of_device(context, start);
  timeline.step = step == kNoIndex ? 0 : step;
  if (on_thread) add_track(trace, own, from, to, kMaxSlicesPerTrackAround, event, event, timeline);
  for (TrackId stream : streams_of(context))
    add_track(trace, stream, from, to, kMaxSlicesPerTrackAround, event,
              stream == own ? event : kNoEvent, timeline);
  add_classes(context, from, to, kMaxClassesAround, timeline);
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
  add_classes(context, from, to, kMaxClasses, timeline);
  return timeline;
}

}  // namespace stallscope
