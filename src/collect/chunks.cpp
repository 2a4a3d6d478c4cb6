#include "collect/chunks.h"

#include "collect/clock.h"
#include "collect/helper.h"
#include "collect/segment_file.h"

namespace stallscope::collect {
namespace {

constexpr uint32_t kInlineGrowth = 2;        // made at once by a thread that found none ready
constexpr uint32_t kLeastUsefulRoom = 4096;  // a remainder smaller than this is not kept

uint32_t key_of(uint64_t sequence) {
  return static_cast<uint32_t>((sequence * 0x9e3779b97f4a7c15ULL) >> 32) ^ 0x5bd1e995U;
}

segment::ChunkHeader* header_of(Session& session, uint32_t chunk) {
  return reinterpret_cast<segment::ChunkHeader*>(chunk_address(session, chunk));
}

// With chunk_lock held. The oldest full chunk makes room for new events.
bool recycle_oldest(Session& session, uint32_t* chunk) {
  if (session.retired == nullptr || session.retired_head == session.retired_tail) return false;
  *chunk = session.retired[session.retired_head++ % session.retired_size];
  segment::ChunkHeader* old = header_of(session, *chunk);
  session.header->discarded_records += old->records;
  if (old->last_ticks > session.header->discarded_until)
    session.header->discarded_until = old->last_ticks;
  return true;
}

// With chunk_lock held. The one made first, so that the file fills from its front.
uint32_t pop_front(Session& session) {
  const uint32_t chunk = session.ready[0];
  __atomic_store_n(&session.ready_count, session.ready_count - 1, __ATOMIC_RELEASE);
  __builtin_memmove(session.ready, session.ready + 1, session.ready_count * sizeof(uint32_t));
  return chunk;
}

bool pop_ready(Session& session, uint32_t* chunk, bool* low) {
  const Locked locked(session.chunk_lock);
  if (!locked) return false;
  if (session.ready_count == 0) {
    if (session.ready_wanted < kMaxReady) session.ready_wanted *= 2;
    *low = true;
    return false;
  }
  *chunk = pop_front(session);
  *low = session.ready_count <= session.ready_wanted / 2;
  return true;
}

void put_ready(Session& session, const uint32_t* chunks, uint32_t count) {
  const Locked locked(session.chunk_lock);
  for (uint32_t i = 0; locked && i < count && session.ready_count < kMaxReady; ++i) {
    session.ready[session.ready_count] = chunks[i];
    __atomic_store_n(&session.ready_count, session.ready_count + 1, __ATOMIC_RELEASE);
  }
}

bool at_size_limit(const Session& session) {
  return __atomic_load_n(&session.chunks_made, __ATOMIC_RELAXED) >= chunk_limit();
}

bool find_chunk(Session& session, uint32_t* chunk) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    bool low = false;
    const bool found = pop_ready(session, chunk, &low);
    const bool may_grow = !at_size_limit(session);
    if (low && may_grow) wake_helper(session);
    if (found) return true;
    if (!may_grow || !await_helper(session)) break;
  }
  {
    // What is there goes round.
    const Locked locked(session.chunk_lock);
    if (locked && at_size_limit(session)) return recycle_oldest(session, chunk);
  }
  uint32_t made[kInlineGrowth];
  const uint32_t count = grow_file(session, kInlineGrowth, made);
  if (count > 0) {
    put_ready(session, made + 1, count - 1);
    *chunk = made[0];
    return true;
  }
  const Locked locked(session.chunk_lock);
  if (!locked) return false;
  if (session.ready_count > 0) {  // another thread made some meanwhile
    *chunk = pop_front(session);
    return true;
  }
  return recycle_oldest(session, chunk);
}

}  // namespace

bool take_chunk(Session& session, segment::ChunkType type, Room* room) {
  uint32_t chunk = 0;
  if (is_closing(session)) return false;
  if (!find_chunk(session, &chunk)) return false;
  segment::ChunkHeader* header = header_of(session, chunk);
  {
    const Locked locked(session.chunk_lock);
    if (!locked || is_closing(session)) return false;
    if (chunk + 1 > session.highest_used) {
      session.highest_used = chunk + 1;
      session.header->chunks = session.highest_used;
    }
    header->type = segment::ChunkType::free;
    header->sequence = ++session.next_sequence;
    header->key = key_of(header->sequence);
    header->last_ticks = 0;
    header->records = 0;
  }
  room->chunk = chunk;
  room->key = header->key;
  room->cursor = reinterpret_cast<uint8_t*>(header) + segment::kChunkHeaderBytes;
  room->limit = reinterpret_cast<uint8_t*>(header) + segment::kChunkBytes;
  // Old contents are made harmless by the new key; a chunk that holds no records
  // has no commit words, so only it must be wiped.
  if (type == segment::ChunkType::threads)
    __builtin_memset(room->cursor, 0, static_cast<size_t>(room->limit - room->cursor));
  __atomic_store_n(reinterpret_cast<uint32_t*>(&header->type), static_cast<uint32_t>(type),
                   __ATOMIC_RELEASE);
  return true;
}

bool take_record_room(Session& session, Room* room) {
  {
    const Locked locked(session.chunk_lock);
    if (locked && session.partial_count > 0) {
      const Partial left = session.partial[--session.partial_count];
      uint8_t* begin = chunk_address(session, left.chunk);
      room->chunk = left.chunk;
      room->key = header_of(session, left.chunk)->key;
      room->cursor = begin + left.used;
      room->limit = begin + segment::kChunkBytes;
      return true;
    }
  }
  return take_chunk(session, segment::ChunkType::records, room);
}

void retire_chunk(Session& session, const Room& room, uint32_t records, uint64_t last_ticks) {
  segment::ChunkHeader* header = header_of(session, room.chunk);
  header->records += records;
  header->last_ticks = last_ticks;
  if (session.retired == nullptr) return;
  const Locked locked(session.chunk_lock);
  if (!locked || session.retired_tail - session.retired_head >= session.retired_size) return;
  session.retired[session.retired_tail++ % session.retired_size] = room.chunk;
}

void leave_chunk(Session& session, const Room& room, uint32_t records) {
  const auto used = static_cast<uint32_t>(room.cursor - chunk_address(session, room.chunk));
  if (segment::kChunkBytes - used < kLeastUsefulRoom) {
    retire_chunk(session, room, records, ticks());
    return;
  }
  header_of(session, room.chunk)->records += records;
  const Locked locked(session.chunk_lock);
  if (!locked || session.partial_count >= kMaxPartial) return;
  session.partial[session.partial_count++] = {room.chunk, used};
}

void work_ahead(Session& session) {
  for (;;) {
    {
      const Locked locked(session.chunk_lock);
      if (!locked || session.ready_count >= session.ready_wanted) return;
    }
    // One by one: a thread that waits for the first must not make its own behind them,
    // which would leave the others unused in the middle of the file.
    uint32_t made;
    if (grow_file(session, 1, &made) == 0) return;
    put_ready(session, &made, 1);
  }
}

}  // namespace stallscope::collect
