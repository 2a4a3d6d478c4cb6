#include "analyze/step_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "trace/step_names.h"

namespace stallscope {
namespace {

/// Profilers round starts and durations apart, some to whole microseconds and through floating
/// point: ranges that follow each other seem to overlap by up to this much, and never by more than
/// a small part of their length.
constexpr Ns kRounding = 2'000, kRoundingShare = 50;

/// A range that comes less often marks no steps; of those that may, more are too many to try.
constexpr size_t kFewestTimes = 3, kMostNamed = 3;

/// Ranges of one marker on one thread.
struct Candidate {
  uint32_t thread = kNoIndex;
  std::string marker;
  std::vector<EventId> ranges;  // by start; those inside another of the same marker left out
  uint64_t launches = 0;        // device work launched from the thread
  bool overlapping = false;
};

// Preference among markers on one thread, best first.
int preference(std::string_view marker) {
  constexpr std::string_view kOrder[] = {"step", "iteration", "trainstep", "profilerstep"};
  const auto at = std::ranges::find(kOrder, marker);
  return static_cast<int>(at - std::begin(kOrder));
}

std::vector<Candidate> collect_candidates(const ProcessIndex& index, std::string_view given) {
  const Trace& trace = *index.trace;
  std::map<std::pair<uint32_t, std::string>, Candidate> found;
  std::vector<std::pair<bool, std::string>> marker_of(trace.strings.size());  // known, marker
  for (uint32_t at = 0; at < index.threads.size(); ++at) {
    const HostThread& thread = index.threads[at];
    for (EventId id = thread.first; id < thread.last; ++id) {
      if (trace.kinds()[id] != EventKind::range ||
          static_cast<RangeKind>(trace.details()[id]) == RangeKind::python)
        continue;
      auto& [known, marker] = marker_of[trace.names()[id]];
      if (!known) {
        known = true;
        const std::string_view name = trace.name(id);
        marker =
            given.empty()
                ? step_marker(name)
                : std::string(is_given_step(name.data(), name.size(), given.data(), given.size())
                                  ? given
                                  : std::string_view());
      }
      if (marker.empty()) continue;
      Candidate& candidate = found[{at, marker}];
      candidate.thread = at;
      candidate.marker = marker;
      if (!candidate.ranges.empty()) {
        const Ns reached = trace.end(candidate.ranges.back());
        if (trace.end(id) <= reached) continue;  // nested
        const Ns rounding = std::min(kRounding, trace.durations()[id] / kRoundingShare);
        if (trace.starts()[id] + rounding < reached) candidate.overlapping = true;
      }
      candidate.ranges.push_back(id);
    }
  }
  std::vector<Candidate> candidates;
  for (auto& [key, candidate] : found) candidates.push_back(std::move(candidate));
  return candidates;
}

void count_launches(const ProcessIndex& index, const DeviceWork* work,
                    std::vector<Candidate>& candidates) {
  std::vector<uint64_t> launches(index.threads.size(), 0);
  if (work != nullptr)
    for (EventId call : work->launches)
      if (call != kNoEvent) ++launches[index.thread_index(call)];
  for (Candidate& candidate : candidates) candidate.launches = launches[candidate.thread];
}

/// How to mark steps: by one of the ranges that come most often, or by one that is not there yet.
std::string how_to_mark(const ProcessIndex& index) {
  const Trace& trace = *index.trace;
  std::map<std::string_view, size_t> times;
  for (const HostThread& thread : index.threads)
    for (EventId id = thread.first; id < thread.last; ++id)
      if (trace.kinds()[id] == EventKind::range &&
          static_cast<RangeKind>(trace.details()[id]) == RangeKind::annotation)
        ++times[trace.name(id)];
  std::vector<std::pair<std::string_view, size_t>> often(times.begin(), times.end());
  std::erase_if(often, [](const auto& range) { return range.second < kFewestTimes; });
  std::ranges::stable_sort(often, std::greater{}, [](const auto& range) { return range.second; });
  if (often.empty()) return "put one named step around what repeats (NVTX or annotate.h)";
  std::string named;
  for (size_t i = 0; i < std::min(often.size(), kMostNamed); ++i)
    named += fmt::format("{}{} ({} times)", i == 0 ? "" : ", ", often[i].first, often[i].second);
  return "name one with --step-range; there are " + named;
}

StepMarks find_steps_without_marker(const ProcessIndex& index, const DeviceWork* work,
                                    bool ignore_calls) {
  StepMarks marks;
  if (!ignore_calls) marks = find_steps_by_calls(index, CallEvidence::step);
  if (!marks.hosts.empty()) return marks;
  StepMarks period;
  if (work != nullptr) period = find_steps_by_period(index, *work);
  if (!period.hosts.empty()) return period;
  if (!ignore_calls) marks = find_steps_by_calls(index, CallEvidence::likely);
  if (!marks.hosts.empty()) return marks;
  if (work == nullptr) period.failure = "no range marks steps; " + how_to_mark(index);
  return period;
}

}  // namespace

StepMarks find_steps(const ProcessIndex& index, const DeviceWork* work,
                     const AnalyzeOptions& options) {
  StepMarks marks;
  std::vector<Candidate> candidates;
  if (!options.ignore_markers) candidates = collect_candidates(index, options.step_range);
  count_launches(index, work, candidates);
  const auto rank = [](const Candidate& c) {
    // A single range marks no period; a lone one still says where the step is.
    return std::tuple(c.ranges.size() < 2, -static_cast<int64_t>(c.launches), preference(c.marker),
                      -static_cast<int64_t>(c.ranges.size()), c.thread);
  };
  const auto best = std::ranges::min_element(candidates, {}, rank);
  if (best == candidates.end()) {
    if (!options.step_range.empty()) {
      marks.failure = "no range is named '" + options.step_range + "'";
      return marks;
    }
    return find_steps_without_marker(index, work, options.ignore_markers);
  }
  const Trace& trace = *index.trace;
  marks.source = options.step_range.empty() ? StepSource::named_range : StepSource::given_range;
  marks.marker = best->marker;
  marks.thread = best->thread;
  marks.overlapping = best->overlapping;
  for (size_t i = 0; i < best->ranges.size(); ++i) {
    const EventId id = best->ranges[i];
    const Ns end =
        i + 1 < best->ranges.size() ? trace.starts()[best->ranges[i + 1]] : trace.end(id);
    marks.hosts.push_back({trace.starts()[id], end});
  }
  return marks;
}

}  // namespace stallscope
