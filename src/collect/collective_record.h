// A collective or message as a communication library describes it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stallscope {

/// Texts may be null, numbers 0, for what the library does not say.
struct CollectiveRecord {
  const char* function = nullptr;  ///< "AllReduce", "Send", ...
  const char* data_type = nullptr;
  const char* algorithm = nullptr;
  const char* protocol = nullptr;
  uint64_t group = 0;  ///< communicator, equal on all its ranks; 0 = unknown
  uint64_t sequence = 0;
  bool has_sequence = false;
  size_t elements = 0;
  size_t bytes = 0;
  int rank = -1;
  int ranks = 0;  ///< in the group; 0 = unknown
  int peer = -1;  ///< other rank or root; -1 = none
  int channels = 0;
  uint64_t start_ticks = 0;  ///< set by begin_collective
};

/// The string number of a group's name. Groups are text in the trace: MPI names them otherwise than
/// NCCL.
uint32_t group_number(uint64_t group);

/// Notes when the host began to enqueue it.
void begin_collective(CollectiveRecord& record);

/// Writes it, from its begin until now, on the calling thread's track.
void end_collective(const CollectiveRecord& record);

}  // namespace stallscope
