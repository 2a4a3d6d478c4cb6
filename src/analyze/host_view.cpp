// Classes of a process without device work: what its step thread did.
#include "analyze/breakdown.h"

namespace stallscope {
namespace {

// `a` without `b`.
Intervals subtract(const Intervals& a, const Intervals& b) {
  Intervals rest;
  auto cut = b.begin();
  for (Interval piece : a) {
    while (cut != b.end() && cut->end <= piece.start) ++cut;
    for (auto it = cut; it != b.end() && it->start < piece.end; ++it) {
      if (it->start > piece.start) rest.push_back({piece.start, it->start});
      piece.start = std::max(piece.start, it->end);
    }
    if (piece.start < piece.end) rest.push_back(piece);
  }
  return rest;
}

}  // namespace

HostUnions host_unions(const ProcessIndex& index, const HostThread& thread,
                       const std::vector<uint8_t>& natures) {
  const Trace& trace = *index.trace;
  UnionBuilder communication, blocking;
  for (EventId id = thread.first; id < thread.last; ++id) {
    const Ns start = trace.starts()[id], end = trace.end(id);
    const EventKind kind = trace.kinds()[id];
    if (kind == EventKind::collective ||
        (kind == EventKind::range && natures[trace.names()[id]] & kCommunication))
      communication.add(start, end);
    if (kind == EventKind::thread_wait) blocking.add(start, end);
  }
  Intervals waits = blocking.take();
  std::vector<Interval> calls;
  for (const BlockingCall& call : thread.blocking) calls.push_back({call.start, call.end});
  waits = unite(waits, union_of(std::move(calls)));

  HostUnions unions;
  unions.overhead = thread.overhead;
  unions.communication = subtract(communication.take(), unions.overhead);
  Intervals claimed = unite(unions.overhead, unions.communication);
  unions.input = subtract(thread.input, claimed);
  claimed = unite(claimed, unions.input);
  unions.blocking = subtract(waits, claimed);
  return unions;
}

void break_down_host(const HostUnions& unions, std::vector<Step>& steps) {
  OverlapCursor overhead(unions.overhead), communication(unions.communication), input(unions.input),
      blocking(unions.blocking);
  for (Step& step : steps) {
    const Ns from = step.window_start, to = step.window_end;
    step.classes[StepClass::profiler_overhead] = overhead.overlap(from, to);
    step.classes[StepClass::exposed_communication] = communication.overlap(from, to);
    step.classes[StepClass::input_wait] = input.overlap(from, to);
    step.classes[StepClass::host_sync] = blocking.overlap(from, to);
    step.classes[StepClass::host_work] = (to - from) - step.classes.total();
  }
}

}  // namespace stallscope
