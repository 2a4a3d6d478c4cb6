// When to record: after a delay, for a time, for a number of steps, or inside a
// range of a given name.
#pragma once

#include "collect/session.h"

namespace stallscope::collect {

/// True when ranges start or end a capture, so that range_begins and the others
/// must be called. Constant after prepare_capture().
extern bool g_watches_ranges;

/// Looks the settings up. After prepare_definitions().
void prepare_capture();

/// True when recording begins paused.
bool starts_paused();

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
