#include "collect/session.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "collect/capture.h"
#include "collect/chunks.h"
#include "collect/clock.h"
#include "collect/definitions.h"
#include "collect/helper.h"
#include "collect/modules.h"
#include "collect/process_facts.h"
#include "collect/range.h"
#include "collect/segment_file.h"
#include "collect/settings.h"
#include "collect/stack.h"
#include "collect/text.h"
#include "collect/thread.h"

namespace stallscope::collect {

Options g_options;

namespace {

static_assert(sizeof(Thread) <= kThreadBytes);

constexpr uint32_t kFirstReady = 4;
constexpr size_t kSessionBytes = (sizeof(Session) + 4095) / 4096 * 4096;
constexpr size_t kWipedBytes = kSessionBytes + kMaxThreads * kThreadBytes;

// Before prepare() and where there is no memory: never started.
constinit Session g_no_session{};
uint8_t* g_wiped = nullptr;
uint32_t g_prepared = 0;  ///< 0 not tried, 1 being tried, 2 yes, 3 no
bool g_was_forked = false;

void read_options() {
  const char* folder = getenv(settings::kOut);
  TextBuilder(g_options.folder, sizeof g_options.folder).add(folder != nullptr ? folder : "");
  const char* range = getenv(settings::kCaptureRange);
  TextBuilder(g_options.capture_range, sizeof g_options.capture_range)
      .add(range != nullptr ? range : "");
  g_options.capture_profiler = parse_number(getenv(settings::kCaptureProfiler), 0) != 0;
  const char* step_range = getenv(settings::kStepRange);
  TextBuilder(g_options.step_range, sizeof g_options.step_range)
      .add(step_range != nullptr ? step_range : "");
  g_options.steps = parse_number(getenv(settings::kSteps), 0);
  g_options.max_bytes = static_cast<uint64_t>(parse_number(getenv(settings::kMaxBytes), 0));
  g_options.delay_ms = parse_number(getenv(settings::kDelayMs), 0);
  g_options.duration_ms = parse_number(getenv(settings::kDurationMs), 0);
  g_options.test_room_bytes = parse_number(getenv(settings::kTestRoomBytes), -1);
  g_options.native_stacks = parse_number(getenv(settings::kNativeStacks), 1) != 0;
  g_options.python_stacks = parse_number(getenv(settings::kPythonStacks), 1) != 0;
  const char* clock = getenv(settings::kClock);
  g_options.forbid_tsc = clock != nullptr && strcmp(clock, "monotonic") == 0;
}

// Kernels without MADV_WIPEONFORK: pages given back read as zero.
void wipe_in_child() {
  madvise(g_wiped, kWipedBytes, MADV_DONTNEED);
}
void note_fork() {
  g_was_forked = true;
}

bool map_session() {
  bool wiped_by_kernel = false;
  g_wiped = static_cast<uint8_t*>(map_wiped_on_fork(kWipedBytes, &wiped_by_kernel));
  if (g_wiped == nullptr) return false;
  if (!wiped_by_kernel && pthread_atfork(nullptr, nullptr, wipe_in_child) != 0) return false;
  pthread_atfork(nullptr, nullptr, note_fork);
  g_session = reinterpret_cast<Session*>(g_wiped);
  return true;
}

bool start(Session& session) {
  session.pid = getpid();
  session.start_ns = clock_ns(CLOCK_MONOTONIC);
  session.ready_wanted = kFirstReady;
  session.extents = static_cast<uint8_t**>(map_private(kMaxExtents * sizeof(uint8_t*)));
  if (session.extents == nullptr || !create_file(session)) return false;
  if (g_options.max_bytes > 0) {
    session.retired_size = chunk_limit();
    session.retired = static_cast<uint32_t*>(map_private(session.retired_size * sizeof(uint32_t)));
  }
  segment::FileHeader& header = *session.header;
  header.version = segment::kVersion;
  header.header_bytes = segment::kHeaderBytes;
  header.chunk_bytes = segment::kChunkBytes;
  header.state = segment::State::open;
  header.clock = choose_clock(g_options.forbid_tsc);
  header.max_bytes = g_options.max_bytes;
  header.forked = g_was_forked ? 1 : 0;
  describe_process(header);
  mark_replaced_program(session);
  add_clock_point(session);
  begin_capture(session);
  __atomic_store_n(&header.magic, segment::kMagic, __ATOMIC_RELEASE);
  return true;
}

void add_early_losses(Session& session) {
  const uint64_t early = __atomic_exchange_n(&session.lost_early, 0, __ATOMIC_ACQ_REL);
  __atomic_add_fetch(&session.header->lost_records, early, __ATOMIC_RELAXED);
}

// Whether the session, which another thread starts, became active. A disk can take its time; one
// that takes longer than this costs events, which are counted.
bool await_start(Session& session, uint32_t own_thread) {
  constexpr int kYields = 1000, kSleeps = 2000;
  for (int attempt = 0; attempt < kYields + kSleeps; ++attempt) {
    const uint32_t state = __atomic_load_n(&session.state, __ATOMIC_ACQUIRE);
    if (state != static_cast<uint32_t>(SessionState::starting)) return is_active(&session);
    // A signal handler that interrupted the starter would wait for itself.
    if (__atomic_load_n(&session.starter, __ATOMIC_RELAXED) == own_thread) return false;
    if (attempt < kYields)
      sched_yield();
    else
      sleep_a_millisecond();
  }
  return false;
}

Session* start_session(Session& session) {
  const auto own_thread = static_cast<uint32_t>(syscall(SYS_gettid));
  uint32_t none = static_cast<uint32_t>(SessionState::none);
  if (!__atomic_compare_exchange_n(&session.state, &none,
                                   static_cast<uint32_t>(SessionState::starting), false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return await_start(session, own_thread) ? &session : nullptr;
  __atomic_store_n(&session.starter, own_thread, __ATOMIC_RELAXED);
  const bool started = start(session);
  __atomic_store_n(&session.state,
                   static_cast<uint32_t>(started ? SessionState::active : SessionState::off),
                   __ATOMIC_RELEASE);
  if (!started) return nullptr;
  add_early_losses(session);
  flush_definitions(session);
  note_modules(session);
  measure_record_path(session);
  if (may_start_thread() || g_options.delay_ms > 0 || g_options.duration_ms > 0)
    start_helper(session);
  return &session;
}

__attribute__((destructor)) void at_exit() {
  close_session();
}

}  // namespace

Session* g_session = &g_no_session;

uint8_t* thread_arena() {
  return g_wiped + kSessionBytes;
}

bool prepare() {
  uint32_t fresh = 0;
  if (!__atomic_compare_exchange_n(&g_prepared, &fresh, 1, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    while ((fresh = __atomic_load_n(&g_prepared, __ATOMIC_ACQUIRE)) == 1) sched_yield();
    return fresh == 2;
  }
  read_options();
  const bool ready = g_options.folder[0] == '/' && map_session() && prepare_definitions() &&
                     prepare_threads() && prepare_stacks();
  if (ready) prepare_capture();
  __atomic_store_n(&g_prepared, ready ? 2 : 3, __ATOMIC_RELEASE);
  return ready;
}

Session* session() {
  Session* current = g_session;
  if (current == &g_no_session) return nullptr;
  switch (static_cast<SessionState>(__atomic_load_n(&current->state, __ATOMIC_ACQUIRE))) {
    case SessionState::active:
      return current;
    case SessionState::off:
      return nullptr;
    default:
      return start_session(*current);
  }
}

void add_clock_point(Session& session) {
  const Locked locked(session.number_lock);
  if (!locked) return;
  segment::FileHeader& header = *session.header;
  if (header.clock_points >= segment::kMaxClockPoints) {
    // Keep every other point, the first among them: the span stays covered.
    const uint32_t half = segment::kMaxClockPoints / 2;
    for (uint32_t i = 1; i < half; ++i) session.clock_table[i] = session.clock_table[2 * i];
    __atomic_store_n(&header.clock_points, half, __ATOMIC_RELEASE);
  }
  session.clock_table[header.clock_points] = read_clocks();
  __atomic_store_n(&header.clock_points, header.clock_points + 1, __ATOMIC_RELEASE);
}

void charge(Session& session, uint64_t ticks_begin) {
  __atomic_add_fetch(&session.header->own_ticks, ticks() - ticks_begin, __ATOMIC_RELAXED);
}

void count_lost(Session& session, uint64_t events) {
  const uint32_t state = __atomic_load_n(&session.state, __ATOMIC_ACQUIRE);
  if (state == static_cast<uint32_t>(SessionState::off)) return;  // there is no recording
  __atomic_add_fetch(&session.lost_early, events, __ATOMIC_ACQ_REL);
  if (is_active(&session)) add_early_losses(session);
}

void close_session() {
  Session& session = *g_session;
  if (!is_active(&session) || session.pid != getpid()) return;
  stop_helper(session);
  note_modules(session);
  add_clock_point(session);
  uint32_t used = 0;
  {
    const Locked locked(session.chunk_lock);
    if (!locked) return;
    __atomic_store_n(&session.closing, 1, __ATOMIC_RELEASE);
    used = session.highest_used;
  }
  trim_file(session, used);
  std::atomic_ref(session.header->state).store(segment::State::closed, std::memory_order_release);
}

}  // namespace stallscope::collect
