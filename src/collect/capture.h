// When to record: after a delay, for a time, or inside a range of a given name.
#pragma once

#include "collect/session.h"

namespace stallscope::collect {

/// String number of the range to capture; 0 = no such setting.
extern uint32_t g_capture_name;

/// Looks the setting up. After prepare_definitions().
void prepare_capture();

/// True when recording begins paused.
bool starts_paused();

/// Sets `paused` by the clock. Called by the helper and in slow paths.
void update_capture(Session& session, int64_t now_ns);

/// A range of the captured name begins or ends, on any thread.
void enter_capture_range();
void leave_capture_range();

}  // namespace stallscope::collect
