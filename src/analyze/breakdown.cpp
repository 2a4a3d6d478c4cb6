#include "analyze/breakdown.h"

namespace stallscope {
namespace {

// The questions about one thread, asked at times that never decrease.
class ThreadCursor {
 public:
  explicit ThreadCursor(const HostThread& thread)
      : thread_(&thread),
        api_(thread.api),
        overhead_(thread.overhead),
        overhead_and_input_(thread.overhead_and_input) {}

  // The blocking call that was open at `time`, or kNoIndex.
  uint32_t blocking_at(Ns time) {
    const auto& calls = thread_->blocking;
    while (next_ < calls.size() && calls[next_].end <= time) ++next_;
    // Calls are ordered by start and barely overlap, so the first that has not ended decides.
    return next_ < calls.size() && calls[next_].start <= time ? static_cast<uint32_t>(next_)
                                                              : kNoIndex;
  }
  Ns api(Ns start, Ns end) { return api_.overlap(start, end); }
  Ns overhead(Ns start, Ns end) { return overhead_.overlap(start, end); }
  Ns overhead_and_input(Ns start, Ns end) { return overhead_and_input_.overlap(start, end); }

 private:
  const HostThread* thread_;
  OverlapCursor api_, overhead_, overhead_and_input_;
  size_t next_ = 0;
};

// Splits one gap into its pieces, as design.md defines them.
void classify_gap(const Trace& trace, std::vector<ThreadCursor>& cursors, IdlePiece gap,
                  std::vector<IdlePiece>& pieces) {
  const Ns length = gap.end - gap.start;
  const auto push = [&](StepClass step_class, Ns share) {
    if (share == 0) return;
    gap.length = share;
    gap.step_class = step_class;
    pieces.push_back(gap);
  };
  // Issued before the gap began, or by a call that is not in the trace: the device waited for the
  // device.
  if (gap.launch == kNoEvent || trace.starts()[gap.launch] < gap.start) {
    push(StepClass::other, length);
    return;
  }
  ThreadCursor& thread = cursors[gap.thread];
  gap.blocking = thread.blocking_at(gap.start);
  if (gap.blocking != kNoIndex) {
    push(StepClass::host_sync, length);
    return;
  }
  const Ns overhead = thread.overhead(gap.start, gap.end);
  const Ns input = thread.overhead_and_input(gap.start, gap.end) - overhead;
  const bool launch_bound = 2 * thread.api(gap.start, gap.end) >= length;
  push(StepClass::profiler_overhead, overhead);
  push(StepClass::input_wait, input);
  push(launch_bound ? StepClass::launch_bound : StepClass::host_work, length - overhead - input);
}

// The position in `work` of the activity that starts at `start`; of several, the one launched
// first. `position` is a hint that only moves forward.
size_t activity_at(const Trace& trace, const DeviceWork& work, Ns start, size_t& position) {
  while (trace.starts()[work.activities[position]] < start) ++position;
  size_t best = position;
  const auto launched = [&](size_t i) {
    return work.launches[i] == kNoEvent ? std::numeric_limits<Ns>::max()
                                        : trace.starts()[work.launches[i]];
  };
  for (size_t i = position + 1;
       i < work.activities.size() && trace.starts()[work.activities[i]] == start; ++i)
    if (launched(i) < launched(best)) best = i;
  return best;
}

}  // namespace

std::vector<IdlePiece> break_down(const ProcessIndex& index, const DeviceWork& work,
                                  const DeviceUsage& usage, std::vector<Step>& steps) {
  const Trace& trace = *index.trace;
  std::vector<ThreadCursor> cursors;
  cursors.reserve(index.threads.size());
  for (const HostThread& thread : index.threads) cursors.emplace_back(thread);
  OverlapCursor compute(usage.compute), either(usage.compute_or_communication);

  std::vector<IdlePiece> pieces;
  size_t position = 0, run = 0;
  for (Step& step : steps) {
    const Ns from = step.window_start, to = step.window_end;
    if (to <= from) continue;
    const Ns compute_ns = compute.overlap(from, to);
    const Ns either_ns = either.overlap(from, to);
    Ns busy_ns = 0;
    const size_t first_piece = pieces.size();
    while (run < usage.busy.size() && usage.busy[run].end < from) ++run;
    for (size_t i = run; i < usage.busy.size() && usage.busy[i].start < to; ++i) {
      const Interval& busy = usage.busy[i];
      busy_ns += std::min(busy.end, to) - std::max(busy.start, from);
      if (busy.end >= to || i + 1 == usage.busy.size()) continue;
      // A window ends where an activity starts, so a gap that begins in it ends in it.
      const Ns gap_end = std::min(usage.busy[i + 1].start, to);
      IdlePiece gap;
      gap.start = busy.end;
      gap.end = gap_end;
      gap.step = step.index;
      const size_t ender = activity_at(trace, work, usage.busy[i + 1].start, position);
      gap.ended_by = work.activities[ender];
      gap.launch = work.launches[ender];
      if (gap.launch != kNoEvent) gap.thread = index.thread_index(gap.launch);
      classify_gap(trace, cursors, gap, pieces);
    }
    step.classes[StepClass::compute] = compute_ns;
    step.classes[StepClass::exposed_communication] = either_ns - compute_ns;
    step.classes[StepClass::exposed_copy] = busy_ns - either_ns;
    for (size_t i = first_piece; i < pieces.size(); ++i)
      step.classes[pieces[i].step_class] += pieces[i].length;
  }
  return pieces;
}

}  // namespace stallscope
