#include "import/merge_profile.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "import/trace_merger.h"
#include "trace/step_names.h"

namespace stallscope {
namespace {

/// When somebody announced collectives, by process.
class Announced {
 public:
  explicit Announced(const Trace& trace) : intervals_(trace.processes.size()) {
    for (EventId id = 0; id < trace.size(); ++id)
      if (trace.kinds()[id] == EventKind::collective)
        intervals_[trace.tracks[trace.tracks_of_events()[id]].process].emplace_back(
            trace.starts()[id], trace.end(id));
    for (auto& own : intervals_) std::ranges::sort(own);
  }

  bool covers(uint32_t process, Ns time) const {
    // Clocks are converted, and the list's time is taken somewhere within the call.
    constexpr Ns kSlack = 100'000;
    const auto& own = intervals_[process];
    const auto after = std::ranges::upper_bound(own, time + kSlack, {}, &std::pair<Ns, Ns>::first);
    return after != own.begin() && time - kSlack <= std::prev(after)->second;
  }

 private:
  std::vector<std::vector<std::pair<Ns, Ns>>> intervals_;
};

/// Backward passes as --annotate marks them, by process. DistributedDataParallel starts the last of
/// its collectives when the last gradient is there, then waits for all of them and copies what they
/// gave; only then does the pass return. So the host waits from the start of the last one on, and
/// where its end was not told it is known to the time of that copy.
class BackwardPasses {
 public:
  explicit BackwardPasses(const Trace& trace) : passes_(trace.processes.size()) {
    for (EventId id = 0; id < trace.size(); ++id)
      if (trace.kinds()[id] == EventKind::range && trace.name(id) == "backward")
        passes_[trace.tracks[trace.tracks_of_events()[id]].process].emplace_back(trace.starts()[id],
                                                                                 trace.end(id));
    for (auto& own : passes_) std::ranges::sort(own);
  }

  /// The pass that runs at `time`.
  std::optional<size_t> at(uint32_t process, Ns time) const {
    const auto& own = passes_[process];
    const auto after = std::ranges::upper_bound(own, time, {}, &std::pair<Ns, Ns>::first);
    if (after == own.begin() || time >= std::prev(after)->second) return std::nullopt;
    return static_cast<size_t>(after - own.begin()) - 1;
  }

  Ns end(uint32_t process, size_t pass) const { return passes_[process][pass].second; }

 private:
  std::vector<std::vector<std::pair<Ns, Ns>>> passes_;
};
constexpr std::string_view kUntilBackward =
    "ends when the backward pass returns, which waits for it: no later, and earlier by the copy of "
    "the gradients at most";

}  // namespace

uint64_t merge_profile(const Trace& profile, Ns realtime_offset, Trace& into) {
  TraceMerger merger(profile, into);
  uint64_t added = 0;
  merger.each(realtime_offset, [&](const Event& event, uint32_t process) {
    const std::string_view name = profile.text(event.name);
    if (event.kind == EventKind::range &&
        step_marker_index(name.data(), name.size()) < kStepMarkerCount)
      return;
    merger.add(event, process);
    ++added;
  });
  return added;
}

uint64_t merge_collectives(const Trace& list, Ns realtime_offset,
                           const std::vector<CaptureWindow>* only, Trace& into) {
  const Announced announced(into);
  const BackwardPasses backward(into);
  TraceMerger merger(list, into);
  std::vector<std::pair<Event, uint32_t>> wanted;
  std::map<std::pair<uint32_t, size_t>, Ns> last_start;  // by process and backward pass
  merger.each(realtime_offset, [&](const Event& event, uint32_t process) {
    if (event.kind != EventKind::collective || announced.covers(process, event.start) ||
        (only != nullptr && !in_window(*only, event.start)))
      return;
    wanted.emplace_back(event, process);
    if (const auto pass = backward.at(process, event.start))
      last_start[{process, *pass}] = std::max(last_start[{process, *pass}], event.start);
  });
  const StringId reason = into.strings.intern(kUntilBackward);
  for (auto& [event, process] : wanted) {
    const auto pass = backward.at(process, event.start);
    if (!pass || event.start != last_start.at({process, *pass})) {
      merger.add(event, process);
      continue;
    }
    const Field fields[] = {Field::of_integer(kKeyAsync, 0), Field::of_text(kKeyReason, reason)};
    const bool told = event.duration > 0;
    // The thread that tells of the end may itself have waited for a CPU.
    const Ns returned = backward.end(process, *pass) - event.start;
    event.duration = told ? std::min(event.duration, returned) : returned;
    merger.add(event, process, std::span(fields, told ? 1 : 2));
  }
  return wanted.size();
}

}  // namespace stallscope
