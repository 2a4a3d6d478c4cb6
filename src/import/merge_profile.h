// What a recorded program left about itself, put into the recording.
#pragma once

#include <vector>

#include "import/capture_windows.h"
#include "trace/trace.h"

namespace stallscope {

/// Adds to the processes of `into` what `profile` says about processes of the same ids. Times of
/// `profile` are CLOCK_REALTIME; `realtime_offset` is that clock minus the time of `into`. Ranges
/// that mark steps are left out: they would hide the program's own marks. To be called before
/// into.finish(). Returns the number of events added.
uint64_t merge_profile(const Trace& profile, Ns realtime_offset, Trace& into);

/// The same for a list of collectives: those that `into` does not have already, because somebody
/// announced them. With `only`, those that began in one of its windows.
uint64_t merge_collectives(const Trace& list, Ns realtime_offset,
                           const std::vector<CaptureWindow>* only, Trace& into);

}  // namespace stallscope
