#include "analyze/steps.h"

#include <algorithm>
#include <limits>

#include "analyze/statistics.h"

namespace stallscope {
namespace {

// The step whose host interval holds `time`, with the last answer as a hint.
uint32_t step_at(const std::vector<Interval>& hosts, Ns time, uint32_t& hint) {
  const auto holds = [&](uint32_t step) {
    return step < hosts.size() && hosts[step].start <= time && time < hosts[step].end;
  };
  if (holds(hint)) return hint;
  if (holds(hint + 1)) return ++hint;
  const auto after = std::ranges::upper_bound(hosts, time, {}, &Interval::start);
  if (after == hosts.begin()) return kNoIndex;
  const auto step = static_cast<uint32_t>(after - hosts.begin() - 1);
  if (!holds(step)) return kNoIndex;
  return hint = step;
}

}  // namespace

StepWork assign_steps(const Trace& trace, const DeviceWork& work, const StepMarks& marks) {
  StepWork result;
  const size_t count = marks.hosts.size();
  std::vector<Ns> first(count, 0), last_end(count, 0);
  result.work_count.assign(count, 0);
  result.step_of.assign(work.activities.size(), kNoIndex);
  std::vector<Ns> unlaunched;
  uint32_t hint = 0;
  for (size_t i = 0; i < work.activities.size(); ++i) {
    const Ns start = trace.starts()[work.activities[i]];
    if (work.launches[i] == kNoEvent) {
      unlaunched.push_back(start);
      continue;
    }
    const uint32_t step = step_at(marks.hosts, trace.starts()[work.launches[i]], hint);
    result.step_of[i] = step;
    if (step == kNoIndex) continue;
    if (result.work_count[step]++ == 0) first[step] = start;  // activities come by start
    last_end[step] = std::max(last_end[step], trace.end(work.activities[i]));
  }
  result.unlaunched = unlaunched.size();

  Ns reached = std::numeric_limits<Ns>::min();  // windows must not overlap
  for (uint32_t i = 0; i < count; ++i) {
    Step step;
    step.index = i;
    step.host_start = marks.hosts[i].start;
    step.host_end = marks.hosts[i].end;
    if (result.work_count[i] == 0) {
      step.use = StepUse::no_work;
    } else {
      step.window_start = first[i];
      step.window_end = last_end[i];
      if (i + 1 < count) {
        if (result.work_count[i + 1] == 0) {
          step.use = StepUse::no_work;  // where it ends cannot be told
        } else {
          step.window_end = first[i + 1];
        }
      }
      if (step.window_start < reached || step.window_end < step.window_start) {
        result.overlapping = true;
        step.use = StepUse::overlapping;
        step.window_end = step.window_start;
      }
      reached = std::max(reached, step.window_end);
    }
    const auto in_window = std::ranges::lower_bound(unlaunched, step.window_start);
    if (step.use == StepUse::used && in_window != unlaunched.end() && *in_window < step.window_end)
      step.use = StepUse::launched_before_capture;
    result.steps.push_back(step);
  }
  return result;
}

std::vector<Step> host_steps(const StepMarks& marks) {
  std::vector<Step> steps;
  for (const Interval& host : marks.hosts) {
    Step step;
    step.index = static_cast<uint32_t>(steps.size());
    step.host_start = step.window_start = host.start;
    step.host_end = step.window_end = host.end;
    steps.push_back(step);
  }
  return steps;
}

void mark_use(const Trace& trace, std::vector<Step>& steps) {
  if (steps.empty()) return;
  for (Step& step : steps) {
    for (const CaptureHole& hole : trace.health.holes) {
      const Ns from = std::min(step.host_start, step.window_start),
               to = std::max(step.host_end, step.window_end);
      if (step.use == StepUse::used && hole.start < to && hole.start + hole.duration > from)
        step.use = StepUse::hole;
    }
  }
  // The first step behind a hole begins with what the hole left, as the first of all does.
  for (const CaptureHole& hole : trace.health.holes) {
    const auto after =
        std::ranges::lower_bound(steps, hole.start + hole.duration, {}, &Step::host_start);
    if (after != steps.end() && after->use == StepUse::used) after->use = StepUse::first;
  }
  if (steps.back().use == StepUse::used) steps.back().use = StepUse::last;
  if (steps.front().use != StepUse::no_work && steps.front().use != StepUse::overlapping)
    steps.front().use = StepUse::first;
  std::vector<Ns> lengths;
  std::vector<uint32_t> candidates = used_steps(steps);
  for (uint32_t i : candidates) lengths.push_back(steps[i].window_end - steps[i].window_start);
  const size_t warm_up = warm_up_length(lengths);
  for (size_t i = 0; i < warm_up; ++i) steps[candidates[i]].use = StepUse::warm_up;
}

std::vector<uint32_t> used_steps(const std::vector<Step>& steps) {
  std::vector<uint32_t> used;
  for (uint32_t i = 0; i < steps.size(); ++i)
    if (steps[i].use == StepUse::used) used.push_back(i);
  return used;
}

}  // namespace stallscope
