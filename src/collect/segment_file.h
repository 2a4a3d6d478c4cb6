// The file on disk: created, grown ahead of need, mapped, trimmed.
#pragma once

#include "collect/session.h"

namespace stallscope::collect {

/// Creates the file and maps its header. False when it cannot be had.
bool create_file(Session& session);

/// Makes up to `wanted` more chunks, allocated on disk and populated in memory,
/// and writes their numbers to `made`. Returns how many: fewer when there is no
/// room, the size limit is reached or another thread is at it.
uint32_t grow_file(Session& session, uint32_t wanted, uint32_t* made);

/// Gives back the room behind the last chunk ever used.
void trim_file(Session& session, uint32_t chunks_used);

inline uint8_t* chunk_address(Session& session, uint32_t chunk) {
  return session.extents[chunk / kChunksPerExtent] +
         (chunk % kChunksPerExtent) * segment::kChunkBytes;
}

/// Chunks that fit the size limit; all there can be when there is none.
uint32_t chunk_limit();

}  // namespace stallscope::collect
