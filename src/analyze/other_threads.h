// What another thread of the program was doing at an instant, by its stack samples.
#pragma once

#include <optional>

#include "analyze/process_index.h"

namespace stallscope {

/// The latest sample of `thread` at `time` that has a stack, at most 100 ms old: what a thread does
/// is told by its sample before.
std::optional<EventId> sample_at(const Trace& trace, const HostThread& thread, Ns time);

}  // namespace stallscope
