// ProcessIndex: one process's events arranged for the questions the analysis
// asks: which call launched this, what filled this thread then, what blocked it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyze/interval.h"
#include "analyze/range_names.h"
#include "trace/trace.h"

namespace stallscope {

inline constexpr EventId kNoEvent = std::numeric_limits<EventId>::max();
inline constexpr uint32_t kNoIndex = std::numeric_limits<uint32_t>::max();

/// A host-blocking call: the runtime returned only when device work was done.
struct BlockingCall {
  EventId id = kNoEvent;
  Ns start = 0, end = 0;
};

/// One host thread.
struct HostThread {
  TrackId track = 0;
  EventId first = 0, last = 0;         ///< rows [first, last)
  Intervals api, overhead, input;      ///< unions; `input` without overhead inside
  Intervals overhead_and_input;        ///< union of the two
  std::vector<BlockingCall> blocking;  ///< by start; nested ones dropped
  std::vector<EventId> parents;        ///< by row - first: innermost range around it, or kNoEvent

  EventId parent(EventId id) const { return parents[id - first]; }
};

/// Activities of one device in one process, ordered by start.
struct DeviceWork {
  int32_t device = 0;
  std::vector<EventId> activities;
  std::vector<EventId> launches;  ///< the call that launched each, or kNoEvent
};

struct ProcessIndex {
  const Trace* trace = nullptr;
  uint32_t process = 0;
  std::vector<HostThread> threads;
  std::vector<DeviceWork> devices;
  bool has_device_calls = false;          ///< launches, copies or synchronisations were called
  std::vector<uint32_t> thread_of_track;  ///< index into threads by TrackId, or kNoIndex

  const HostThread* thread_of(EventId id) const;
  uint32_t thread_index(EventId id) const { return thread_of_track[trace->tracks_of_events()[id]]; }
};

/// True for kinds of events that occupy a device, on a stream's track.
bool is_device_activity(const Trace& trace, EventId id);

/// "pageable", "pinned" or empty (unknown): the host side of a copy.
std::string_view host_memory(const Trace& trace, EventId copy);

/// Index of every process, in the trace's order. `natures` from range_natures().
std::vector<ProcessIndex> index_processes(const Trace& trace, const std::vector<uint8_t>& natures);

}  // namespace stallscope
