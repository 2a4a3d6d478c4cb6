#include "collect/capture.h"

#include <string.h>

#include "collect/clock.h"
#include "collect/definitions.h"
#include "collect/note.h"
#include "collect/text.h"
#include "trace/step_names.h"

namespace stallscope::collect {

bool g_watches_ranges = false;

namespace {

// The first and the last recorded step never enter statistics: they are cut.
constexpr int64_t kCutSteps = 2;

uint32_t g_capture_name = 0;  ///< string number of the range to capture; 0 = no such setting
// By string number: 0 = no step, else 1 + the index in Session::steps. Only with a step limit.
uint8_t* g_step_class = nullptr;
bool g_bounded = false;  ///< recording may pause at some time

// What CUPTI delivers late is judged by the time at which it happened.
void set_paused(Session& session, bool paused) {
  __atomic_store_n(&session.paused, paused ? 1 : 0, __ATOMIC_RELAXED);
  // For those who look at the process from outside.
  if (session.header != nullptr)
    __atomic_store_n(&session.header->paused, paused ? 1 : 0, __ATOMIC_RELAXED);
  if (!g_bounded) return;
  const Locked locked(session.time_lock);
  if (!locked) return;
  const uint32_t count = session.recorded_count;
  RecordedTime* const latest =
      count == 0 ? nullptr : &session.recorded[(count - 1) % kMaxRecordedTimes];
  const bool recording = latest != nullptr && latest->end == INT64_MAX;
  if (recording == !paused) return;
  const int64_t now = clock_ns(CLOCK_REALTIME);
  if (recording)
    latest->end = now;
  else
    session.recorded[session.recorded_count++ % kMaxRecordedTimes] = {now, INT64_MAX};
}

// The importer keeps what other sources saw (samples of Python) by these marks.
void mark_capture(bool opens) {
  segment::Record head{};
  head.kind = segment::RecordKind::capture;
  head.start = ticks();
  define(head, nullptr, 0, opens ? segment::kCaptureOpens : 0);
}

void finish(Session& session) {
  if (__atomic_exchange_n(&session.finished, 1, __ATOMIC_ACQ_REL) != 0) return;
  set_paused(session, true);
  char sentence[160];
  TextBuilder(sentence, sizeof sentence)
      .add("recording ended after ")
      .add_number(g_options.steps + kCutSteps)
      .add(" steps: as many as asked for, and the first and the last, which are never counted");
  note(sentence);
}

// A range that marks steps begins before the optimizer's step in it.
constexpr uint32_t kByOptimizer = 1 + kStepMarkerCount;
bool any_marker_begun(const Session& session) {
  for (size_t marker = 0; marker < kStepMarkerCount; ++marker)
    if (__atomic_load_n(&session.steps[marker].begun, __ATOMIC_RELAXED) > 0) return true;
  return false;
}

void count_step(Session& session, uint32_t step_class) {
  Session::StepCount& steps = session.steps[step_class - 1];
  if (step_class == kByOptimizer && any_marker_begun(session)) return;
  if (is_active(&session) && __atomic_load_n(&session.paused, __ATOMIC_RELAXED) == 0 &&
      __atomic_add_fetch(&steps.begun, 1, __ATOMIC_RELAXED) > g_options.steps + kCutSteps)
    finish(session);
}

uint32_t step_class_of(uint32_t name) {
  return g_step_class == nullptr ? 0 : __atomic_load_n(&g_step_class[name], __ATOMIC_RELAXED);
}

}  // namespace

void prepare_capture() {
  if (g_options.steps > 0) g_step_class = static_cast<uint8_t*>(map_private(kMaxStrings + 1));
  g_capture_name = intern(g_options.capture_range, strlen(g_options.capture_range));
  g_watches_ranges = g_capture_name != 0 || g_step_class != nullptr;
  g_bounded = g_watches_ranges || g_options.capture_profiler || g_options.delay_ms > 0 ||
              g_options.duration_ms > 0;
}

void begin_capture(Session& session) {
  set_paused(session, g_options.delay_ms > 0 || g_options.capture_range[0] != '\0' ||
                          g_options.capture_profiler);
  // A forked child has its parent's marks too.
  if (g_options.capture_profiler) mark_capture(false);
}

bool was_recording(int64_t realtime_ns) {
  if (!g_bounded) return true;
  Session& session = *g_session;
  const Locked locked(session.time_lock);
  if (!locked) return __atomic_load_n(&session.paused, __ATOMIC_RELAXED) == 0;
  const uint32_t count = session.recorded_count;
  for (uint32_t age = 1; age <= count && age <= kMaxRecordedTimes; ++age) {
    const RecordedTime& time = session.recorded[(count - age) % kMaxRecordedTimes];
    if (realtime_ns >= time.begin) return realtime_ns < time.end;
  }
  return false;
}

bool profiler_starts() {
  Session& session = *g_session;
  if (!g_options.capture_profiler ||
      __atomic_exchange_n(&session.profiler_open, 1, __ATOMIC_ACQ_REL) != 0)
    return false;
  mark_capture(true);
  if (__atomic_load_n(&session.finished, __ATOMIC_ACQUIRE) == 0) set_paused(session, false);
  update_capture(session, clock_ns(CLOCK_MONOTONIC));
  return true;
}

bool profiler_stops() {
  Session& session = *g_session;
  if (!g_options.capture_profiler ||
      __atomic_exchange_n(&session.profiler_open, 0, __ATOMIC_ACQ_REL) == 0)
    return false;
  set_paused(session, true);
  mark_capture(false);
  return true;
}

void capture_everything() {
  if (profiler_starts())
    note(
        "cudaProfilerStart cannot be followed in this process (--capture cuda-profiler), so that "
        "everything was recorded from then on");
  g_options.capture_profiler = false;
}

void update_capture(Session& session, int64_t now_ns) {
  if (g_options.delay_ms == 0 && g_options.duration_ms == 0) return;
  const int64_t begin = session.start_ns + g_options.delay_ms * 1'000'000;
  const int64_t end =
      g_options.duration_ms > 0 ? begin + g_options.duration_ms * 1'000'000 : INT64_MAX;
  const bool outside_time = now_ns < begin || now_ns >= end;
  const bool outside_range =
      g_capture_name != 0 && __atomic_load_n(&session.capture_depth, __ATOMIC_ACQUIRE) == 0;
  const bool outside_profiler =
      g_options.capture_profiler && __atomic_load_n(&session.profiler_open, __ATOMIC_ACQUIRE) == 0;
  const bool finished = __atomic_load_n(&session.finished, __ATOMIC_ACQUIRE) != 0;
  set_paused(session, outside_time || outside_range || outside_profiler || finished);
}

void range_begins(uint32_t name) {
  Session& session = *g_session;
  if (name != 0 && name == g_capture_name) {
    __atomic_add_fetch(&session.capture_depth, 1, __ATOMIC_ACQ_REL);
    if (__atomic_load_n(&session.finished, __ATOMIC_ACQUIRE) == 0) set_paused(session, false);
  }
  if (const uint32_t step_class = step_class_of(name)) {
    // A step inside one of the same kind is a part of it.
    Session::StepCount& steps = session.steps[step_class - 1];
    if (__atomic_add_fetch(&steps.depth, 1, __ATOMIC_RELAXED) == 1) count_step(session, step_class);
  }
}

void started_range_begins(uint32_t name) {
  if (const uint32_t step_class = step_class_of(name)) count_step(*g_session, step_class);
}

void range_ends(uint32_t name) {
  Session& session = *g_session;
  if (const uint32_t step_class = step_class_of(name))
    __atomic_sub_fetch(&session.steps[step_class - 1].depth, 1, __ATOMIC_RELAXED);
  if (name != 0 && name == g_capture_name &&
      __atomic_sub_fetch(&session.capture_depth, 1, __ATOMIC_ACQ_REL) == 0)
    set_paused(session, true);
}

void classify_step_name(uint32_t string, const char* text, size_t bytes) {
  if (g_step_class == nullptr) return;
  uint8_t step_class = 0;
  if (g_options.step_range[0] != '\0') {
    if (is_given_step(text, bytes, g_options.step_range, strlen(g_options.step_range)))
      step_class = 1;
  } else if (const size_t marker = step_marker_index(text, bytes); marker < kStepMarkerCount) {
    step_class = static_cast<uint8_t>(1 + marker);
  } else if (bytes == sizeof kOptimizerStep - 1 && memcmp(text, kOptimizerStep, bytes) == 0) {
    step_class = kByOptimizer;
  }
  __atomic_store_n(&g_step_class[string], step_class, __ATOMIC_RELAXED);
}

}  // namespace stallscope::collect
