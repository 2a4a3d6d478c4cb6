// CUPTI's activity records: buffers handed out and taken back, records turned
// into events.
#pragma once

#include "collect/cupti_library.h"

namespace stallscope::collect {

/// How much of the device is recorded, and at which cost (see scripts/gpu-check.sh).
enum class GpuLevel : uint8_t {
  none,
  light,  ///< graph launches as one record each
  full,   ///< every node of a graph
};

/// Registers the buffer callbacks and enables the kinds of `level`. False, with
/// a sentence in `reason`, when the driver refuses.
bool start_activity(const CuptiLibrary& cupti, GpuLevel level, const char** reason);

/// Asks CUPTI for what it holds. `force` also for buffers that are not complete.
void flush_activity(bool force);

/// Disables the kinds, and enables them again: what is under way is delivered all the same.
void pause_activity();
void resume_activity();

/// Disables the kinds and takes the last buffers.
void stop_activity();

/// Buffers were delivered since the last call: false while calls go on means
/// that another client has taken over the callbacks.
bool activity_is_delivered();

/// CUPTI's clock minus CLOCK_REALTIME, measured at start, in nanoseconds.
int64_t cupti_clock_offset_ns();

/// Callback ids of both API domains lie below this: tables by id have this size.
inline constexpr uint32_t kMaxCbid = 2048;

}  // namespace stallscope::collect
