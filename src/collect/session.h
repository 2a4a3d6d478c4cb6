// Session: this process's recording. It lives in memory that a fork wipes, so a
// child starts with none and opens a file of its own at its first event.
#pragma once

#include <stdint.h>

#include "collect/memory.h"
#include "trace/segment_format.h"
#include "trace/step_names.h"

namespace stallscope::collect {

/// What the parent asked for (see settings.h). Read once per program.
struct Options {
  char folder[3072];
  uint64_t max_bytes;
  int64_t delay_ms;
  int64_t duration_ms;
  int64_t test_room_bytes;  ///< -1 = what there is
  bool native_stacks;
  bool python_stacks;
  bool forbid_tsc;
  char capture_range[256];
  bool capture_profiler;  ///< record between cudaProfilerStart and cudaProfilerStop
  int64_t steps;          ///< record this many whole steps; 0 = no limit
  char step_range[256];   ///< the range that marks a step; "" = the usual names
};

/// 1 MB of the file, mapped in one piece.
inline constexpr size_t kExtentBytes = 1 << 20;
inline constexpr size_t kChunksPerExtent = kExtentBytes / segment::kChunkBytes;
inline constexpr size_t kMaxExtents = 1 << 16;  // 64 GB
inline constexpr size_t kMaxReady = 256;

/// A chunk that a thread left behind when it ended.
struct Partial {
  uint32_t chunk;
  uint32_t used;
};
inline constexpr size_t kMaxPartial = 1024;

/// A time in which events were kept, in nanoseconds of CLOCK_REALTIME.
struct RecordedTime {
  int64_t begin;
  int64_t end;
};
inline constexpr uint32_t kMaxRecordedTimes = 256;

/// Strings in the table of one process; later ones go with each event.
inline constexpr uint32_t kMaxStrings = 1 << 14;

enum class SessionState : uint32_t { none, starting, active, off };

struct Session {
  uint32_t state;          ///< SessionState
  uint32_t starter;        ///< thread that starts the session
  uint64_t lost_early;     ///< events that came before there was a file to count them in
  uint32_t paused;         ///< 1 = events are not kept (delay, duration, capture range)
  uint32_t capture_depth;  ///< open ranges of the captured name
  uint32_t profiler_open;  ///< 1 = between cudaProfilerStart and cudaProfilerStop
  SpinLock time_lock;
  RecordedTime recorded[kMaxRecordedTimes];  ///< ring of the latest; only with a bounded capture
  uint32_t recorded_count;
  uint32_t finished;  ///< 1 = the asked number of steps is recorded
  struct StepCount {
    int64_t begun;
    uint32_t depth;               ///< open ranges of this marker
  } steps[kStepMarkerCount + 1];  ///< by marker; the last one by the optimizer
  uint32_t closing;
  int64_t pid;
  segment::FileHeader* header;
  segment::ClockPoint* clock_table;
  char path[3200];
  uint64_t inode;
  int64_t start_ns;  ///< CLOCK_MONOTONIC

  // The file: chunks exist from 0 to chunks_made, in extents mapped one by one.
  SpinLock grow_lock;
  uint8_t** extents;
  uint32_t chunks_made;
  uint64_t file_bytes;
  int64_t no_room_until_ns;

  // Chunks on their way to and from threads.
  SpinLock chunk_lock;
  uint32_t ready[kMaxReady];
  uint32_t ready_count;
  uint32_t ready_wanted;  ///< how far ahead the helper works
  Partial partial[kMaxPartial];
  uint32_t partial_count;
  uint32_t* retired;  ///< ring of full chunks, oldest first; only with a size limit
  uint32_t retired_head, retired_tail, retired_size;
  uint64_t next_sequence;
  uint32_t highest_used;

  // Definitions: how much of the process's log is in this file.
  SpinLock string_lock;
  SpinLock number_lock;  ///< domains, schemas, stacks
  SpinLock define_lock;
  SpinLock module_lock;
  uint8_t* define_cursor;
  uint8_t* define_limit;
  uint32_t define_key;
  void* flushed_block;
  uint32_t flushed_bytes;

  // Threads.
  SpinLock thread_lock;
  void* free_threads;
  uint32_t threads_made;
  uint8_t* block_chunk;  ///< chunk of ThreadBlocks that has some left
  uint32_t blocks_left;

  uint32_t helper_state;  ///< 0 none, 1 running, 2 to stop
  uint32_t helper_wake;   ///< futex word
  uint32_t modules_stale;
  uint32_t next_range;
};

extern Session* g_session;  ///< never null after prepare()
extern Options g_options;

/// The active session, started if need be; nullptr when recording is impossible.
Session* session();

/// Counts events that found no room. Those that come while the session is being started, as from a
/// signal handler in the midst of it, are added once there is a file.
void count_lost(Session& session, uint64_t events = 1);

/// Reads the settings and prepares the process. False: stay out of the way.
bool prepare();

/// Ends the recording in an orderly way (exit, unload).
void close_session();

/// Adds a clock point to the header's table; thins the table when it is full.
void add_clock_point(Session& session);

/// Adds time spent in a slow path to the recorder's own cost.
void charge(Session& session, uint64_t ticks_begin);

/// Memory for kMaxThreads Thread structs, wiped on fork like the session.
inline constexpr uint32_t kMaxThreads = 1 << 14;
inline constexpr size_t kThreadBytes = 2048;
uint8_t* thread_arena();

inline bool is_active(const Session* session) {
  return __atomic_load_n(&session->state, __ATOMIC_ACQUIRE) ==
         static_cast<uint32_t>(SessionState::active);
}

/// The file is being trimmed: no chunk is made or taken any more.
inline bool is_closing(const Session& session) {
  return __atomic_load_n(&session.closing, __ATOMIC_ACQUIRE) != 0;
}

}  // namespace stallscope::collect
