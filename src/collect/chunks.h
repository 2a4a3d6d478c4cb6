// Chunks on their way between the file and the threads that fill them.
#pragma once

#include "collect/session.h"

namespace stallscope::collect {

/// Where a thread writes: records go from `cursor` up to `limit`.
struct Room {
  uint8_t* cursor = nullptr;
  uint8_t* limit = nullptr;
  uint32_t chunk = 0;
  uint32_t key = 0;  ///< of the chunk, for commit words
};

/// A fresh chunk: one made ahead, else one made now, else the oldest full one.
/// False when no room can be had.
bool take_chunk(Session& session, segment::ChunkType type, Room* room);

/// Room for a thread's records: what an ended thread left, or a fresh chunk.
bool take_record_room(Session& session, Room* room);

/// The chunk is full: with a size limit it may be used again.
void retire_chunk(Session& session, const Room& room, uint32_t records, uint64_t last_ticks);

/// The thread ended after `records` more; another may go on in its chunk.
void leave_chunk(Session& session, const Room& room, uint32_t records);

/// Makes chunks until as many as wanted are ready. Called by the helper.
void work_ahead(Session& session);

}  // namespace stallscope::collect
