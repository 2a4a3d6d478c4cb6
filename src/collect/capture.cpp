#include "collect/capture.h"

#include <string.h>

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

void finish(Session& session) {
  if (__atomic_exchange_n(&session.finished, 1, __ATOMIC_ACQ_REL) != 0) return;
  __atomic_store_n(&session.paused, 1, __ATOMIC_RELAXED);
  char sentence[160];
  TextBuilder(sentence, sizeof sentence)
      .add("recording ended after ")
      .add_number(g_options.steps + kCutSteps)
      .add(" steps: as many as asked for, and the first and the last, which are never counted");
  note(sentence);
}

void count_step(Session& session, uint32_t step_class) {
  Session::StepCount& steps = session.steps[step_class - 1];
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
}

bool starts_paused() {
  return g_options.delay_ms > 0 || g_options.capture_range[0] != '\0';
}

void update_capture(Session& session, int64_t now_ns) {
  if (g_options.delay_ms == 0 && g_options.duration_ms == 0) return;
  const int64_t begin = session.start_ns + g_options.delay_ms * 1'000'000;
  const int64_t end =
      g_options.duration_ms > 0 ? begin + g_options.duration_ms * 1'000'000 : INT64_MAX;
  const bool outside_time = now_ns < begin || now_ns >= end;
  const bool outside_range =
      g_capture_name != 0 && __atomic_load_n(&session.capture_depth, __ATOMIC_ACQUIRE) == 0;
  const bool finished = __atomic_load_n(&session.finished, __ATOMIC_ACQUIRE) != 0;
  __atomic_store_n(&session.paused, outside_time || outside_range || finished ? 1 : 0,
                   __ATOMIC_RELAXED);
}

void range_begins(uint32_t name) {
  Session& session = *g_session;
  if (name != 0 && name == g_capture_name) {
    __atomic_add_fetch(&session.capture_depth, 1, __ATOMIC_ACQ_REL);
    if (__atomic_load_n(&session.finished, __ATOMIC_ACQUIRE) == 0)
      __atomic_store_n(&session.paused, 0, __ATOMIC_RELAXED);
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
    __atomic_store_n(&session.paused, 1, __ATOMIC_RELAXED);
}

void classify_step_name(uint32_t string, const char* text, size_t bytes) {
  if (g_step_class == nullptr) return;
  uint8_t step_class = 0;
  if (g_options.step_range[0] != '\0') {
    if (is_given_step(text, bytes, g_options.step_range, strlen(g_options.step_range)))
      step_class = 1;
  } else if (const size_t marker = step_marker_index(text, bytes); marker < kStepMarkerCount) {
    step_class = static_cast<uint8_t>(1 + marker);
  }
  __atomic_store_n(&g_step_class[string], step_class, __ATOMIC_RELAXED);
}

}  // namespace stallscope::collect
