// A profile that the recorded program made of itself, put where the recording
// has a hole because of it.
#pragma once

#include "trace/trace.h"

namespace stallscope {

/// Adds to the processes of `into` what `profile` says about processes of the same ids. Times of
/// `profile` are CLOCK_REALTIME; `realtime_offset` is that clock minus the time of `into`. Ranges
/// that mark steps are left out: they would hide the program's own marks. To be called before
/// into.finish(). Returns the number of events added.
uint64_t merge_profile(const Trace& profile, Ns realtime_offset, Trace& into);

}  // namespace stallscope
