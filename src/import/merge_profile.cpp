#include "import/merge_profile.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/step_names.h"

namespace stallscope {
namespace {

class Merger {
 public:
  Merger(const Trace& from, Trace& into)
      : from_(from), into_(into), stacks_(from.stack_count()), tracks_(from.tracks.size()) {}

  /// All events whose process `into` has, at their time there: visit(event, process).
  template <typename Visit>
  void each(Ns realtime_offset, const Visit& visit) const {
    for (EventId id = 0; id < from_.size(); ++id) {
      Event event = from_.event(id);
      const std::optional<uint32_t> process = process_of(event.track);
      event.start -= realtime_offset;
      if (process) visit(event, *process);
    }
  }

  /// Adds an event that each() gave.
  void add(Event event, uint32_t process, std::span<const Field> more = {}) {
    event.track = track(event.track, process);
    event.name = text(event.name);
    event.stack = stack(event.stack);
    event.payload = payload(event.payload);
    if (!more.empty()) {
      const auto own = into_.payload(event.payload);
      std::vector<Field> fields(own.begin(), own.end());
      for (const Field& field : more) {
        const auto known = std::ranges::find(fields, field.key, &Field::key);
        if (known == fields.end())
          fields.push_back(field);
        else
          *known = field;
      }
      event.payload = into_.add_payload(fields);
    }
    into_.add(event);
  }

 private:
  std::optional<uint32_t> process_of(TrackId id) const {
    const Process& from = from_.processes[from_.tracks[id].process];
    const auto found = std::ranges::find(into_.processes, from.pid, &Process::pid);
    if (found != into_.processes.end())
      return static_cast<uint32_t>(found - into_.processes.begin());
    // Inside a container a process has another number than outside: then its rank tells, where
    // one process only has it.
    const auto is_rank = [&](const Process& process) { return process.rank == from.rank; };
    if (from.rank < 0 || from.world_size < 2 ||
        std::ranges::count_if(into_.processes, is_rank) != 1)
      return std::nullopt;
    return static_cast<uint32_t>(std::ranges::find_if(into_.processes, is_rank) -
                                 into_.processes.begin());
  }

  TrackId track(TrackId id, uint32_t process) {
    if (tracks_[id]) return *tracks_[id];
    const Track& track = from_.tracks[id];
    const TrackId own = into_.track(process, track.kind, track.device, track.id);
    if (into_.tracks[own].name == 0) into_.tracks[own].name = text(track.name);
    tracks_[id] = own;
    return own;
  }

  StringId text(StringId id) {
    if (id == 0) return 0;
    const auto [known, added] = texts_.try_emplace(id, 0);
    if (added) known->second = into_.strings.intern(from_.text(id));
    return known->second;
  }

  StackId stack(StackId id) {
    if (id == 0) return 0;
    if (stacks_[id]) return *stacks_[id];
    std::vector<FrameId> frames;
    for (const FrameId frame_id : from_.stack(id)) {
      Frame frame = from_.frame(frame_id);
      frame.function = text(frame.function);
      frame.file = text(frame.file);
      frame.module = text(frame.module);
      frames.push_back(into_.add_frame(frame));
    }
    stacks_[id] = into_.add_stack(frames);
    return *stacks_[id];
  }

  PayloadId payload(PayloadId id) {
    if (id == 0) return 0;
    const auto [known, added] = payloads_.try_emplace(id, 0);
    if (!added) return known->second;
    std::vector<Field> fields;
    for (Field field : from_.payload(id)) {
      if (field.key >= kKeyCount_) field.key = text(field.key);
      if (field.type == Field::Type::text) field.text = text(field.text);
      fields.push_back(field);
    }
    return known->second = into_.add_payload(fields);
  }

  const Trace& from_;
  Trace& into_;
  std::unordered_map<StringId, StringId> texts_;
  std::vector<std::optional<StackId>> stacks_;
  std::vector<std::optional<TrackId>> tracks_;
  std::unordered_map<PayloadId, PayloadId> payloads_;
};

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
  Merger merger(profile, into);
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
  Merger merger(list, into);
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
