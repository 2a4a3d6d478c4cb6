#include "collect/capture.h"

#include <string.h>

#include "collect/definitions.h"

namespace stallscope::collect {

uint32_t g_capture_name = 0;

void prepare_capture() {
  g_capture_name = intern(g_options.capture_range, strlen(g_options.capture_range));
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
  __atomic_store_n(&session.paused, outside_time || outside_range ? 1 : 0, __ATOMIC_RELAXED);
}

void enter_capture_range() {
  __atomic_add_fetch(&g_session->capture_depth, 1, __ATOMIC_ACQ_REL);
  __atomic_store_n(&g_session->paused, 0, __ATOMIC_RELAXED);
}

void leave_capture_range() {
  if (__atomic_sub_fetch(&g_session->capture_depth, 1, __ATOMIC_ACQ_REL) == 0)
    __atomic_store_n(&g_session->paused, 1, __ATOMIC_RELAXED);
}

}  // namespace stallscope::collect
