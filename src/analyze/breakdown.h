// Breakdown: the class of every instant of a step, and why the device idled.
#pragma once

#include "analyze/device_usage.h"
#include "analyze/process_index.h"
#include "analyze/summary.h"

namespace stallscope {

/// A piece of a device-idle gap that has one class. A gap has one piece, or several when overhead
/// or input wait filled parts of it. All share `start`, the gap's own.
struct IdlePiece {
  Ns start = 0;                  ///< of the gap
  Ns end = 0;                    ///< of the gap
  Ns length = 0;                 ///< of this piece
  EventId ended_by = kNoEvent;   ///< the activity that ends the gap
  EventId launch = kNoEvent;     ///< its launching call
  uint32_t blocking = kNoIndex;  ///< host-sync: index into the thread's blocking calls
  uint32_t thread = kNoIndex;    ///< of the launching call
  uint32_t step = kNoIndex;      ///< index of the step whose window holds the gap
  StepClass step_class = StepClass::other;
};

/// Fills `classes` of the steps that have a window and returns the idle pieces of their windows,
/// by start. Linear in the number of activities and host events.
std::vector<IdlePiece> break_down(const ProcessIndex& index, const DeviceWork& work,
                                  const DeviceUsage& usage, std::vector<Step>& steps);

/// Host view: classes of the step thread in each step's host interval, by this precedence:
/// profiler-overhead, exposed-communication, input-wait, host-sync, host-work.
struct HostUnions {
  Intervals overhead, communication, input, blocking;  ///< disjoint, after precedence
};
HostUnions host_unions(const ProcessIndex& index, const HostThread& thread,
                       const std::vector<uint8_t>& natures);
void break_down_host(const HostUnions& unions, std::vector<Step>& steps);

}  // namespace stallscope
