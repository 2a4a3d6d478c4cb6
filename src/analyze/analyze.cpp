// The analysis of one trace: a summary per (process, device).
#include "analyze/analyze.h"

#include <algorithm>

#include "analyze/abstain.h"
#include "analyze/device_interface.h"
#include "analyze/observe.h"
#include "analyze/observe_parts.h"
#include "analyze/product_precision.h"
#include "analyze/rank_context.h"
#include "analyze/statistics.h"
#include "base/parallel.h"
#include "trace/run_manifest.h"

namespace stallscope {
namespace {

struct RankUnit {
  const ProcessIndex* index;
  const DeviceWork* work;  // null: host view
};

// Helpers of a distributed job (loaders, launchers) are no ranks when others ran device work.
std::vector<RankUnit> units_of(const Trace& trace, const std::vector<ProcessIndex>& processes) {
  const bool any_device =
      std::ranges::any_of(processes, [](const ProcessIndex& p) { return !p.devices.empty(); });
  std::vector<RankUnit> units;
  for (const ProcessIndex& index : processes) {
    for (const DeviceWork& work : index.devices) units.push_back({&index, &work});
    if (!index.devices.empty()) continue;
    const bool has_events = std::ranges::any_of(
        index.threads, [](const HostThread& thread) { return thread.last > thread.first; });
    if (has_events && (!any_device || trace.processes[index.process].rank >= 0))
      units.push_back({&index, nullptr});
  }
  return units;
}

void fill_identity(const Trace& trace, const RankUnit& unit, RankSummary& summary) {
  const Process& process = trace.processes[unit.index->process];
  summary.rank = process.rank;
  summary.pid = process.pid;
  summary.device = unit.work != nullptr ? unit.work->device : -1;
  summary.world_size = process.world_size;
  summary.host = process.host;
  summary.view = unit.work != nullptr ? RankView::device : RankView::host;
  summary.health = trace.health;
  summary.environment = trace.environment;
}

Ns length_of(const RankContext& context, const Step& step) {
  return context.work != nullptr ? step.window_end - step.window_start
                                 : step.host_end - step.host_start;
}

void find_and_break_down(RankContext& context) {
  const Trace& trace = context.trace;
  context.marks = find_steps(context.index, context.work, context.options);
  if (context.work != nullptr) {
    context.usage = device_usage(trace, *context.work, context.collective_name);
    context.step_work = assign_steps(trace, *context.work, context.marks);
    context.steps = context.step_work.steps;
  } else {
    context.steps = host_steps(context.marks);
  }
  mark_use(trace, context.steps);
  context.used = used_steps(context.steps);
  context.used_rank.assign(context.steps.size(), kNoIndex);
  Ns total = 0;
  for (uint32_t i = 0; i < context.used.size(); ++i) {
    context.used_rank[context.used[i]] = i;
    total += length_of(context, context.steps[context.used[i]]);
  }
  if (!context.used.empty()) context.step_mean = total / static_cast<Ns>(context.used.size());

  if (context.work != nullptr) {
    context.idle = break_down(context.index, *context.work, context.usage, context.steps);
  } else if (context.marks.thread != kNoIndex) {
    const HostThread& thread = context.index.threads[context.marks.thread];
    break_down_host(host_unions(context.index, thread, context.natures), context.steps);
  }
}

// The whole run of a process without device work and without usable steps, as if it were one step:
// from the first sample after the imports, on the main thread.
void observe_whole_host(RankContext& context) {
  const Trace& trace = context.trace;
  const int64_t pid = trace.processes[context.index.process].pid;
  uint32_t main = 0;
  for (uint32_t i = 0; i < context.index.threads.size(); ++i)
    if (trace.tracks[context.index.threads[i].track].id == pid) main = i;
  const HostThread& thread = context.index.threads[main];
  if (thread.first == thread.last) return;
  Step whole;
  whole.host_start = whole.window_start = end_of_imports(trace, thread);
  whole.host_end = whole.window_end = trace.end(thread.last - 1);
  if (whole.host_end <= whole.host_start) return;
  context.marks.thread = main;
  context.steps = {whole};
  context.used = {0};
  context.used_rank = {0};
  context.step_mean = whole.host_end - whole.host_start;
}

// Without a usable step, what stalls can still be named: over the steps there are, else over the
// whole trace as if it were one. No step time comes of it, and the abstention says so.
void observe_what_there_is(RankContext& context) {
  if (!context.used.empty()) return;
  if (context.work == nullptr) return observe_whole_host(context);
  std::vector<uint32_t> observed;
  for (const Step& step : context.steps)
    if (step.window_end > step.window_start) observed.push_back(step.index);
  if (observed.empty()) {
    const Trace& trace = context.trace;
    Step whole;
    whole.host_start = whole.window_start = trace.starts()[context.work->activities.front()];
    whole.window_end = whole.window_start + context.usage.totals.window;
    whole.host_end = whole.window_end;
    for (const HostThread& thread : context.index.threads) {
      if (thread.first == thread.last) continue;
      whole.host_start = std::min(whole.host_start, trace.starts()[thread.first]);
      whole.host_end = std::max(whole.host_end, trace.starts()[thread.last - 1] + 1);
    }
    context.steps = {whole};
    context.idle = break_down(context.index, *context.work, context.usage, context.steps);
    std::ranges::fill(context.step_work.step_of, 0U);
    observed = {0};
  }
  context.used = std::move(observed);
  context.used_rank.assign(context.steps.size(), kNoIndex);
  Ns total = 0;
  for (uint32_t i = 0; i < context.used.size(); ++i) {
    context.used_rank[context.used[i]] = i;
    total += length_of(context, context.steps[context.used[i]]);
  }
  context.step_mean = total / static_cast<Ns>(context.used.size());
}

void fill_statistics(const RankContext& context, RankSummary& summary) {
  std::vector<Ns> lengths;
  for (uint32_t i : context.used) {
    const Step& step = context.steps[i];
    lengths.push_back(length_of(context, step));
    for (size_t c = 0; c < kStepClasses; ++c) summary.mean_breakdown.ns[c] += step.classes.ns[c];
  }
  if (lengths.empty()) return;
  for (Ns& ns : summary.mean_breakdown.ns) ns /= static_cast<Ns>(lengths.size());
  const MedianInterval interval = bootstrap_median(lengths);
  summary.step_median = interval.median;
  summary.step_low = interval.low;
  summary.step_high = interval.high;
  const size_t median = median_step(lengths);
  summary.median_breakdown = context.steps[context.used[median]].classes;
}

RankSummary analyze_unit(const Trace& trace, const RankUnit& unit, const AnalyzeOptions& options,
                         const std::vector<uint8_t>& natures,
                         const std::vector<bool>& collective_name) {
  RankSummary summary;
  fill_identity(trace, unit, summary);
  RankContext context{trace,     options, *unit.index, natures, collective_name,
                      unit.work, {},      {},          {},      {},
                      {},        {},      {},          0};
  find_and_break_down(context);
  summary.step_source = context.marks.source;
  summary.step_marker = context.marks.marker;
  summary.gpu = context.usage.totals;
  summary.steps = context.steps;
  fill_statistics(context, summary);
  summary.abstentions = abstentions(context);
  observe_what_there_is(context);
  observe_all(context, summary);
  return summary;
}

// Loader workers carry their trainer's rank, and launchers none: without steps of their own they
// are no ranks beside those that have some.
void drop_helpers(std::vector<RankSummary>& summaries) {
  const auto steps_of = [&](int32_t rank) {
    return std::ranges::any_of(summaries, [rank](const RankSummary& summary) {
      return summary.rank == rank && !summary.steps.empty();
    });
  };
  const bool any_rank =
      std::ranges::any_of(summaries, [](const RankSummary& summary) { return summary.rank >= 0; });
  std::vector<bool> helper;
  helper.reserve(summaries.size());
  for (const RankSummary& summary : summaries)
    helper.push_back(summary.view == RankView::host && summary.steps.empty() &&
                     (steps_of(summary.rank) || (any_rank && summary.rank < 0)));
  size_t at = 0;
  std::erase_if(summaries, [&](const RankSummary&) { return helper[at++]; });
}

}  // namespace

std::vector<RankSummary> analyze_trace(const Trace& trace, const AnalyzeOptions& options) {
  const std::vector<uint8_t> natures = range_natures(trace);
  const std::vector<bool> collective_name = collective_names(trace);
  const std::vector<ProcessIndex> processes = index_processes(trace, natures);
  const std::vector<RankUnit> units = units_of(trace, processes);
  const std::string_view precision = product_precision(trace), interface = device_interface(trace);
  std::vector<RankSummary> summaries(units.size());
  parallel_for(units.size(), [&](size_t i) {
    summaries[i] = analyze_unit(trace, units[i], options, natures, collective_name);
    if (!precision.empty()) summaries[i].environment["products.precision"] = precision;
    if (interface.empty()) return;
    summaries[i].environment["device.interface"] = interface;
    // What the machine has is what the run used only once something ran on it.
    if (const auto gpus = trace.environment.find(kGpusFact); gpus != trace.environment.end())
      summaries[i].environment.emplace("gpu.name", gpus->second);
  });
  drop_helpers(summaries);
  return summaries;
}

}  // namespace stallscope
