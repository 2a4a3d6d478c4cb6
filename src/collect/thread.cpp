#include "collect/thread.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/capture.h"
#include "collect/definitions.h"
#include "collect/python_stack.h"
#include "collect/segment_file.h"

namespace stallscope::collect {

thread_local Thread* t_thread __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

pthread_key_t g_key;
bool g_key_made = false;

void name_thread(uint32_t tid) {
  char name[17] = {};
  if (prctl(PR_GET_NAME, name) != 0 || name[0] == '\0') return;
  segment::Record head{};
  head.kind = segment::RecordKind::thread_name;
  head.name = intern(name, strlen(name));
  head.extra = tid;
  define(head, nullptr, 0, 0);
}

// Says whose records follow: chunks pass from thread to thread.
void write_thread_record(Thread& thread) {
  constexpr size_t kBytes = 2 * segment::kUnit;
  if (thread.room.cursor + kBytes > thread.room.limit) return;
  segment::Record head{};
  head.kind = segment::RecordKind::thread;
  head.units = 2;
  head.extra = thread.tid;
  head.start = ticks();
  memcpy(thread.room.cursor, &head, sizeof head);
  commit(thread, thread.room.cursor, kBytes);
}

// With thread_lock held.
segment::ThreadBlock* new_block(Session& session) {
  if (session.blocks_left == 0) {
    Room room;
    if (!take_chunk(session, segment::ChunkType::threads, &room)) return nullptr;
    session.block_chunk = room.cursor;
    session.blocks_left = segment::kThreadsPerChunk;
  }
  auto* block = reinterpret_cast<segment::ThreadBlock*>(session.block_chunk);
  session.block_chunk += sizeof(segment::ThreadBlock);
  --session.blocks_left;
  return block;
}

Thread* new_thread(Session& session) {
  const Locked locked(session.thread_lock);
  if (!locked) return nullptr;
  auto* thread = static_cast<Thread*>(session.free_threads);
  if (thread != nullptr) {
    session.free_threads = thread->next_free;
    segment::ThreadBlock* block = thread->block;
    memset(static_cast<void*>(thread), 0, sizeof *thread);
    thread->block = block;
    return thread;
  }
  if (session.threads_made >= kMaxThreads) return nullptr;
  segment::ThreadBlock* block = new_block(session);
  if (block == nullptr) return nullptr;
  thread = reinterpret_cast<Thread*>(thread_arena()) + session.threads_made++;
  thread->block = block;
  return thread;
}

// Runs when a thread ends: its chunk and its block go to another.
void detach_thread(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  if (thread == nullptr || thread->open_limit == nullptr || t_thread != thread) return;
  Session& session = *g_session;
  t_thread = nullptr;
  name_thread(thread->tid);
  if (thread->room.cursor != nullptr) leave_chunk(session, thread->room, thread->records);
  if (thread->block->used != 0) return;  // ranges still open: the block keeps them for the reader
  __atomic_store_n(&thread->block->tid, 0, __ATOMIC_RELEASE);
  thread->open_limit = nullptr;
  const Locked locked(session.thread_lock);
  if (!locked) return;
  thread->next_free = static_cast<Thread*>(session.free_threads);
  session.free_threads = thread;
}

}  // namespace

bool prepare_threads() {
  if (!g_key_made) g_key_made = pthread_key_create(&g_key, detach_thread) == 0;
  return g_key_made;
}

Thread* attach_thread() {
  Session* active = session();
  if (active == nullptr) {
    count_lost(*g_session);
    return nullptr;
  }
  const uint64_t begin = ticks();
  Thread* thread = new_thread(*active);
  if (thread == nullptr) {
    count_lost(*active);
    return nullptr;
  }
  thread->tid = static_cast<uint32_t>(syscall(SYS_gettid));
  thread->block->used = 0;
  __atomic_store_n(&thread->block->tid, thread->tid, __ATOMIC_RELEASE);
  thread->open_top = thread->block->open;
  thread->open_limit = thread->block->open + sizeof thread->block->open;
  t_thread = thread;
  pthread_setspecific(g_key, thread);
  name_thread(thread->tid);
  if (take_record_room(*active, &thread->room)) write_thread_record(*thread);
  if (g_options.python_stacks) look_for_python();
  charge(*active, begin);
  return thread;
}

bool refill(Thread& thread, size_t bytes) {
  Session* active = session();
  if (active == nullptr) return false;
  const uint64_t begin = ticks();
  update_capture(*active, clock_ns(CLOCK_MONOTONIC));
  if (thread.room.cursor != nullptr) retire_chunk(*active, thread.room, thread.records, begin);
  thread.room = {};
  thread.records = 0;
  if (take_record_room(*active, &thread.room)) write_thread_record(thread);
  charge(*active, begin);
  if (thread.room.cursor != nullptr && thread.room.cursor + bytes <= thread.room.limit) return true;
  count_lost(*active);
  return false;
}

}  // namespace stallscope::collect
