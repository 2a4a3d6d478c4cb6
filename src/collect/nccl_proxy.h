// What NCCL's proxy threads do for a collective: operations on a channel, their steps, what the
// network plugin tells, and how long a kernel works on a channel.
#pragma once

#include "collect/nccl_slots.h"

namespace stallscope::nccl {

/// Notes when an event of `type` began. `parent` is the collective's handle, or that of the proxy
/// event it is a part of; what that knows of the collective is taken over. False for other types.
bool begin_proxy(uint64_t type, void* parent, OpenEvent& event);

/// Writes it from its begin until now, on the calling thread's track, with the collective it
/// belongs to (group, sequence number, function).
void end_proxy(const OpenEvent& event);

}  // namespace stallscope::nccl
