// The helper thread: makes chunks ahead of need, reads the clocks now and then,
// notes newly loaded modules.
#pragma once

#include "collect/session.h"

namespace stallscope::collect {

/// Starts the helper unless it runs.
void start_helper(Session& session);

/// Asks the helper for chunks; starts it when a program did without so far.
void wake_helper(Session& session);

/// Waits a little for a chunk from the helper. False when none is to be expected.
bool await_helper(Session& session);

/// Tells the helper to end; does not wait for it.
void stop_helper(Session& session);

}  // namespace stallscope::collect
