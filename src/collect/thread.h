// Thread: where one thread writes, and the record path itself. No lock, no
// allocation: two clock readings and a few stores per range.
#pragma once

#include <string.h>

#include "collect/chunks.h"
#include "collect/clock.h"
#include "collect/session.h"

namespace stallscope::collect {

inline constexpr uint32_t kMaxOpen =
    sizeof(segment::ThreadBlock::open) / (2 * segment::kUnit);  // of the smallest record

/// In memory that a fork wipes: in a child all rooms are empty, so that its
/// first event takes the slow path and finds a file of its own.
struct Thread {
  Room room;
  segment::ThreadBlock* block;
  uint8_t* open_top;    ///< where the next begun range goes
  uint8_t* open_limit;  ///< nullptr: not attached
  uint32_t open_count;
  uint32_t overflow;  ///< begun ranges beyond what the block holds
  uint32_t records;   ///< in the current chunk
  uint32_t tid;
  uint32_t in_recorder;  ///< guards against events from within the recorder
  uint32_t cuda_call;    ///< CUPTI's correlation of the runtime call last begun; 0 = none
  uintptr_t stack_low, stack_high;  ///< of this thread's stack; 0 = not asked yet
  Thread* next_free;
  uint16_t open_offset[kMaxOpen];  ///< of each begun range in the block
  uint16_t depth[256];             ///< begun ranges by domain
};

extern thread_local Thread* t_thread __attribute__((tls_model("initial-exec")));

/// Attaches the calling thread to the session (first event, or first after a
/// fork). nullptr when nothing can be recorded.
Thread* attach_thread();

/// A fresh chunk for a record of `bytes`; false when there is no room (counted).
bool refill(Thread& thread, size_t bytes);

/// Registers what must run once per program: thread ends.
bool prepare_threads();

/// The calling thread's state, attached and not forked since.
inline Thread* this_thread() {
  Thread* thread = t_thread;
  if (__builtin_expect(thread == nullptr || thread->open_limit == nullptr, 0))
    return attach_thread();
  return thread;
}

/// Room for a record in the thread's chunk; nullptr when it is lost.
inline uint8_t* reserve(Thread& thread, size_t bytes) {
  if (__builtin_expect(thread.room.cursor + bytes > thread.room.limit, 0) && !refill(thread, bytes))
    return nullptr;
  return thread.room.cursor;
}

/// Makes the record at `place` valid. Everything else of it is written before.
inline void commit(Thread& thread, uint8_t* place, size_t bytes) {
  uint64_t first_word;
  memcpy(&first_word, place, sizeof first_word);
  __atomic_store_n(reinterpret_cast<uint32_t*>(place + bytes - sizeof(uint32_t)),
                   segment::commit_word(thread.room.key, first_word), __ATOMIC_RELEASE);
  thread.room.cursor = place + bytes;
  ++thread.records;
}

inline bool is_paused() {
  return __builtin_expect(__atomic_load_n(&g_session->paused, __ATOMIC_RELAXED) != 0, 0);
}

constexpr size_t round_up(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace stallscope::collect
