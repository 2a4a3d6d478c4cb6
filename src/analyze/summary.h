// What analysis makes of a trace: steps, their breakdown, and Observations.
// A RankSummary holds no reference to its Trace, so that ranks are analysed one
// at a time (or on their own nodes) and merged afterwards.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "trace/health.h"

namespace stallscope {

/// The class every instant of a step belongs to: exactly one, so that classes sum to the step.
enum class StepClass : uint8_t {
  compute,
  exposed_communication,
  exposed_copy,
  host_sync,
  launch_bound,
  host_work,
  input_wait,
  profiler_overhead,
  other,
};
inline constexpr size_t kStepClasses = 9;
/// "exposed-communication" and so on: the names of report.json.
std::string_view to_string(StepClass step_class);

/// Nanoseconds per class.
struct ClassTimes {
  std::array<Ns, kStepClasses> ns{};
  Ns& operator[](StepClass c) { return ns[static_cast<size_t>(c)]; }
  Ns operator[](StepClass c) const { return ns[static_cast<size_t>(c)]; }
  Ns total() const;
};

/// Why a step takes no part in statistics.
enum class StepUse : uint8_t {
  used,
  first,
  last,
  warm_up,
  launched_before_capture,  ///< the device still ran work whose launch is not in the trace
  hole,
  no_work,      ///< it or the next step ran nothing on the device
  overlapping,  ///< its work began before that of the step before
};

struct Step {
  uint32_t index = 0;
  Ns host_start = 0, host_end = 0;  ///< from its range's start to the next one's
  Ns window_start = 0,
     window_end = 0;   ///< device window; the host interval when there is no device work
  ClassTimes classes;  ///< sums to window_end - window_start
  StepUse use = StepUse::used;
  Bytes peak_memory = 0;  ///< 0 = allocations unknown
};

/// How the steps were found.
enum class StepSource : uint8_t { none, given_range, named_range, launch_period };

/// Which view the classes show: device windows, or the step thread of a process without device
/// work.
enum class RankView : uint8_t { device, host };

/// A place in the user's code. `line` 0 = unknown.
struct Place {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string function;
  std::string language;  ///< "python", "cpp", "" = unknown
  bool known() const { return !file.empty() || !function.empty(); }
  auto operator<=>(const Place&) const = default;
};

/// A piece of a small timeline: times relative to the timeline's own start.
struct Slice {
  Ns start = 0;
  Ns duration = 0;
  uint32_t track = 0;  ///< index into Timeline::tracks
  std::string name;
  std::string kind;          ///< to_string(EventKind)
  bool highlighted = false;  ///< the event the timeline is about
};

struct Timeline {
  std::vector<std::string> tracks;
  std::vector<Slice> slices;
  /// What the device's time is, from each of these instants on.
  std::vector<std::pair<Ns, StepClass>> classes;
  Ns duration = 0;
  uint32_t step = 0;
  int32_t rank = -1;
  Ns origin = -1;  ///< where it begins in its trace's own time; -1 = unknown
};

/// A quantity over the used steps. A sync every tenth step has median 0 and steps_affected > 0.
struct Distribution {
  double median = 0, maximum = 0, total = 0;
  uint32_t steps_affected = 0, steps = 0;
  double per_step() const { return steps == 0 ? 0 : total / steps; }
};

/// One row of what was seen: a filter over these is a rule's trace condition.
/// Kinds and their fields are listed by `stallscope rules kinds` from observation_kinds().
struct Observation {
  std::string kind;          ///< "host-sync", "collective-burst", ...
  Place place;               ///< innermost frame in the user's own code
  std::vector<Place> stack;  ///< whole stack, innermost first
  int32_t rank = -1;
  int64_t pid = 0;
  int32_t device = -1;
  std::string subject;                       ///< kernel, collective, operator, call
  std::string cause;                         ///< the event waited for, the late rank, ...
  Distribution count;                        ///< occurrences per step
  Distribution blocked_ns;                   ///< host time spent blocked
  Distribution idle_ns;                      ///< device idle charged to it
  std::map<std::string, double> numbers;     ///< further fields: "bytes", "duration_ns", ...
  std::map<std::string, std::string> texts;  ///< "call", "copy", "operator", "group", ...
  std::vector<Timeline> exemplars;           ///< at most kMaxExemplars, worst first
  /// All its events (the blocking calls, the kernels, the collectives, ...) in the trace that was
  /// analysed, in time order: what replay changes. Not serialised; empty once the trace is gone.
  std::vector<uint32_t> events;
  Ns one_time_ns = 0;  ///< before the first steady step; 0 for step observations
};
inline constexpr size_t kMaxExemplars = 8;

/// A kind of observation and what its rows hold, for `rules kinds` and for checking rule files.
struct ObservationKind {
  std::string_view name;
  std::string_view meaning;
  std::vector<std::pair<std::string_view, std::string_view>> fields;  ///< name, meaning with unit
};
const std::vector<ObservationKind>& observation_kinds();

struct StartupPhase {
  std::string name;  ///< "import", "model-build", "compile", "first-batch", "other"
  Ns duration = 0;
};

/// Unions of intervals over the whole trace of one (process, device), to the nanosecond.
struct GpuTotals {
  Ns window = 0, busy = 0, compute = 0, communication = 0, exposed_communication = 0, copy = 0;
  uint64_t kernels = 0, collective_kernels = 0;
};

/// A rank's part in one collective; a rank's wait = its duration minus the
/// shortest among its ranks, because all end together. Needs no aligned clocks.
struct CollectiveKey {
  std::string group;
  int64_t sequence = 0;
  auto operator<=>(const CollectiveKey&) const = default;
};
struct CollectiveShare {
  Ns shortest = 0;
  int32_t shortest_rank = -1;  ///< arrived last
  Ns total = 0;
  uint32_t ranks = 0;
  uint32_t step = 0;
  std::string name;
  Ns end = 0;  ///< in the rank's own time; of a rank's own share only
};

/// A step that took much longer than the median, and where the difference went.
struct SlowStep {
  uint32_t step = 0;
  Ns duration = 0;
  ClassTimes difference;  ///< this step minus the median step
  /// "garbage collection", "checkpoint", "late rank", "load (data.py:12)", ...; "" = unknown
  std::string likely_cause;
};

/// The row of the kernel table: time by kernel name.
struct KernelRow {
  std::string name;
  std::string op;
  Place place;
  uint64_t count = 0;
  Ns total = 0;
  Ns median = 0;
};

/// Kernel time by what launched the kernels: an operator, or a line of the user's own.
struct KernelShare {
  std::string op;  ///< innermost operator; empty in the table by line
  Place place;     ///< of the table by line; unknown in the table by operator
  uint64_t count = 0;
  Ns total = 0;
};

/// Time in which a used step's device did not compute, by why and by who.
struct WaitShare {
  /// "host-sync", "host-work", "input-wait", "launch-call", "launch-latency",
  /// "stream-dependency", "profiler-overhead", "copy", "communication" and, once ranks are merged,
  /// "communication-wait": for the rank that arrived last.
  std::string cause;
  std::string subject;  ///< host function, call or kernel that took most of it
  std::string op;
  Place place;
  Ns per_step = 0;  ///< mean over used steps
};

/// A step's host time within one named range of its thread: see phases_of().
struct PhaseShare {
  std::string name;     ///< empty: outside all of them
  double per_step = 0;  ///< ranges in a used step, mean
  Ns host = 0;          ///< mean over used steps
  double fraction = 0;  ///< of the steps' host time
  Ns device = 0;        ///< work that was launched there, streams added up, mean over used steps
};

/// Device work that was launched and had not ended, over the whole trace.
struct QueueDepth {
  Ns start = 0, bucket = 0;   ///< of the first bucket; length of each
  std::vector<double> depth;  ///< mean per bucket
  double mean = 0;
  uint32_t maximum = 0;
};

/// One (process, device) that ran work, or one process without device work.
struct RankSummary {
  int32_t rank = -1;
  int64_t pid = 0;
  int32_t device = -1;
  int32_t world_size = 0;
  std::string host;
  RankView view = RankView::device;
  StepSource step_source = StepSource::none;
  std::string step_marker;      ///< name of the range that marks steps, if any
  std::vector<Step> steps;      ///< all of them, discarded ones included
  ClassTimes median_breakdown;  ///< of the step whose length is the median (ties: first)
  ClassTimes mean_breakdown;    ///< mean over used steps; sums to the mean step time
  Ns step_median = 0, step_low = 0, step_high = 0;  ///< median and its 95 % bootstrap interval
  GpuTotals gpu;
  std::vector<StartupPhase> startup;
  std::vector<Observation> observations;
  std::vector<SlowStep> slow_steps;                         ///< at most five
  std::vector<KernelRow> kernels;                           ///< by total time, at most 100
  std::vector<KernelShare> kernels_by_op, kernels_by_line;  ///< by total time, at most 50 each
  std::vector<WaitShare> waits;                             ///< by time, at most 50
  std::vector<PhaseShare> phases;                           ///< by time; sum to the mean step
  QueueDepth queue;
  Timeline representative;  ///< the median step, for the timeline view
  std::map<CollectiveKey, CollectiveShare> collectives;
  Ns clock_offset = 0;                   ///< its clock minus the first rank's, found by merging
  Bytes peak_memory = 0;                 ///< 0 = unknown
  double replay_error = -1;              ///< of the unchanged replay, relative; -1 = not replayed
  std::vector<std::string> abstentions;  ///< why no verdict can be given; empty = fine
  TraceHealth health;
  std::map<std::string, std::string> environment;
};

/// Clocks of ranks compared where their collectives end, because all parts of one end together.
struct ClockAlignment {
  uint32_t ranks = 0;        ///< that share collectives with the first one, itself included
  uint64_t collectives = 0;  ///< matched ends in all
  Ns residual = -1;          ///< 90th percentile of what the offsets leave, of the worst rank
};

/// The whole run: ranks in order (rank, pid, device), with what only their union shows.
struct RunSummary {
  std::vector<RankSummary> ranks;
  std::map<CollectiveKey, CollectiveShare> collectives;
  std::vector<Observation> cross_rank;  ///< collective-wait and stragglers, found by merging
  ClockAlignment clocks;
};

/// How to analyse.
struct AnalyzeOptions {
  std::string step_range;  ///< --step-range; empty = find it
  std::vector<std::string>
      user_roots;               ///< folders whose files are the user's own code; empty = guess
  bool ignore_markers = false;  ///< find steps by period only
};

}  // namespace stallscope
