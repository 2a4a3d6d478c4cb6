// The slowest steps and where their time went; memory in use, per step.
#include <algorithm>

#include "analyze/observe_parts.h"
#include "analyze/statistics.h"
#include "analyze/step_samples.h"

namespace stallscope {
namespace {

constexpr size_t kMostSlowSteps = 5;
/// A step is slow when it exceeds the median by this share.
constexpr double kSlow = 1.1;
/// A cause explains a step when it covers this share of the excess.
constexpr double kExplains = 0.3;

// What ran in the step on any thread and is known to take long now and then.
std::string known_cause(const RankContext& context, const Step& step, Ns excess) {
  struct Candidate {
    uint8_t nature;
    const char* name;
    Ns total;
  };
  Candidate candidates[] = {{kCollection, "garbage collection", 0},
                            {kCheckpoint, "checkpoint", 0},
                            {kCompile, "compile", 0}};
  const Trace& trace = context.trace;
  const auto starts = trace.starts();
  for (const HostThread& thread : context.index.threads) {
    auto id = static_cast<EventId>(std::lower_bound(starts.begin() + thread.first,
                                                    starts.begin() + thread.last, step.host_start) -
                                   starts.begin());
    for (; id < thread.last && starts[id] < step.host_end; ++id) {
      const bool loads = trace.kinds()[id] == EventKind::api &&
                         static_cast<ApiCall>(trace.details()[id]) == ApiCall::module_load;
      const uint8_t nature = loads ? kCompile
                             : trace.kinds()[id] == EventKind::range
                                 ? context.natures[trace.names()[id]]
                                 : 0;
      for (Candidate& candidate : candidates)
        if (nature & candidate.nature)
          candidate.total = std::max(candidate.total, trace.durations()[id]);
    }
  }
  const auto& best = *std::ranges::max_element(candidates, {}, &Candidate::total);
  return static_cast<double>(best.total) >= kExplains * static_cast<double>(excess) ? best.name
                                                                                    : "";
}

std::string likely_cause(const RankContext& context, const StepSamples& samples, uint32_t used,
                         const ClassTimes& difference, Ns excess) {
  const double least = kExplains * static_cast<double>(excess);
  std::string cause = known_cause(context, context.steps[context.used[used]], excess);
  if (cause.empty()) cause = samples.beyond_usual(used, least);
  if (!cause.empty()) return cause;
  const auto largest = std::ranges::max_element(difference.ns);
  if (static_cast<double>(*largest) < least) return "";
  switch (static_cast<StepClass>(largest - difference.ns.begin())) {
    case StepClass::exposed_communication:
      return "late rank";
    case StepClass::input_wait:
      return "late batch";
    case StepClass::profiler_overhead:
      return "profiler";
    default:
      return "";
  }
}

}  // namespace

std::vector<SlowStep> slow_steps(const RankContext& context, SiteTable& sites) {
  std::vector<Ns> lengths;
  for (uint32_t i : context.used)
    lengths.push_back(context.steps[i].window_end - context.steps[i].window_start);
  if (lengths.empty()) return {};
  const size_t median = median_step(lengths);
  const ClassTimes& usual = context.steps[context.used[median]].classes;
  std::vector<size_t> order;
  for (size_t i = 0; i < lengths.size(); ++i)
    if (static_cast<double>(lengths[i]) > kSlow * static_cast<double>(lengths[median]))
      order.push_back(i);
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return lengths[i]; });
  if (order.size() > kMostSlowSteps) order.resize(kMostSlowSteps);
  std::vector<SlowStep> slow;
  if (order.empty()) return slow;
  const StepSamples samples(context, sites);
  for (size_t i : order) {
    const Step& step = context.steps[context.used[i]];
    SlowStep row;
    row.step = step.index;
    row.duration = lengths[i];
    for (size_t c = 0; c < kStepClasses; ++c)
      row.difference.ns[c] = step.classes.ns[c] - usual.ns[c];
    row.likely_cause = likely_cause(context, samples, static_cast<uint32_t>(i), row.difference,
                                    lengths[i] - lengths[median]);
    slow.push_back(std::move(row));
  }
  return slow;
}

void fill_memory(const RankContext& context, RankSummary& summary) {
  const Trace& trace = context.trace;
  std::vector<EventId> events;
  for (const HostThread& thread : context.index.threads)
    for (EventId id = thread.first; id < thread.last; ++id)
      if (trace.kinds()[id] == EventKind::alloc) events.push_back(id);
  if (events.empty()) return;
  std::ranges::stable_sort(events, {}, [&trace](EventId id) { return trace.starts()[id]; });
  int64_t in_use = 0;
  const int32_t device = context.work != nullptr ? context.work->device : -1;
  std::vector<Bytes> peaks(context.steps.size(), 0);
  for (EventId id : events) {
    const auto on = trace.integer(id, kKeyDevice);
    if (on && *on != device) continue;
    const int64_t bytes = trace.integer(id, kKeyBytes).value_or(0);
    const bool release = static_cast<AllocKind>(trace.details()[id]) == AllocKind::release;
    in_use =
        trace.integer(id, kKeyTotalBytes).value_or(in_use + (release ? -std::abs(bytes) : bytes));
    if (in_use <= 0) continue;
    summary.peak_memory = std::max(summary.peak_memory, static_cast<Bytes>(in_use));
    const uint32_t step = context.step_of_host(trace.starts()[id]);
    if (step != kNoIndex) peaks[step] = std::max(peaks[step], static_cast<Bytes>(in_use));
  }
  // The steps looked at are not the summary's when the whole trace stood in for one.
  for (size_t i = 0; i < std::min(peaks.size(), summary.steps.size()); ++i)
    summary.steps[i].peak_memory = peaks[i];
}

}  // namespace stallscope
