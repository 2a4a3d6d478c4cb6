// When to record: after a delay, for a time, for a number of steps, inside a
// range of a given name, or between cudaProfilerStart and cudaProfilerStop.
#pragma once

#include "collect/session.h"

namespace stallscope::collect {

/// True when ranges start or end a capture, so that range_begins and the others
/// must be called. Constant after prepare_capture().
extern bool g_watches_ranges;

/// Looks the settings up. After prepare_definitions().
void prepare_capture();

/// The session begins: recording, or paused until the capture's condition holds.
void begin_capture(Session& session);

/// False when an event of `realtime_ns` (CLOCK_REALTIME), told of later, happened while
/// recording was paused.
bool was_recording(int64_t realtime_ns);

/// cudaProfilerStart was, or cudaProfilerStop is being called. Returns false when nothing changes:
/// it is open or closed already, or this recording does not follow them.
bool profiler_starts();
bool profiler_stops();

/// cudaProfilerStart cannot be followed (any longer): from here on everything is recorded.
void capture_everything();

/// Sets `paused` by the clock. Called by the helper and in slow paths.
void update_capture(Session& session, int64_t now_ns);

/// A range whose name has this string number begins or ends on some thread.
void range_begins(uint32_t name);
void range_ends(uint32_t name);

/// The same for a range that may end on another thread: it may mark a step, but
/// not a captured range, whose depth only nested ranges keep.
void started_range_begins(uint32_t name);

/// A string was added to the table: says whether it names a step.
void classify_step_name(uint32_t string, const char* text, size_t bytes);

}  // namespace stallscope::collect
