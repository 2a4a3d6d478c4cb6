// The events that NCCL has begun and not yet ended, and those that ended lately: a collective's
// enqueueing is over long before the network has carried it.
#pragma once

#include <sys/types.h>

#include "collect/collective_record.h"

namespace stallscope::nccl {

/// A collective's enqueueing, or what its proxy thread does for it.
struct OpenEvent {
  uint64_t type = 0;        ///< EventType
  CollectiveRecord record;  ///< of the collective that it belongs to, with its own start_ticks
  void* parent = nullptr;   ///< handle of the event that it is a part of
  const char* name = nullptr;
  int channel = -1;
};

/// Keeps `event` under a handle that no other event ever had; nullptr when all places are taken.
void* open_event(const OpenEvent& event);

/// What a handle stands for. False for one that is too old, or was never given.
bool find_event(void* handle, OpenEvent& event);

/// Adds to the bytes that an open event moved.
void add_bytes(void* handle, size_t bytes);

/// The same, and its place may be taken by others from now on. Once per handle.
bool close_event(void* handle, OpenEvent& event);

}  // namespace stallscope::nccl
