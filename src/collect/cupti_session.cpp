// The GPU part of a recording: subscribes to CUPTI when the driver loads this
// library (CUDA_INJECTION64_PATH), takes the stack of every call that blocks or
// launches, and ends it all before the process does.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collect/background.h"
#include "collect/capture.h"
#include "collect/clock.h"
#include "collect/cupti_activity.h"
#include "collect/cupti_calls.h"
#include "collect/cupti_graphs.h"
#include "collect/cupti_records.h"
#include "collect/cupti_window.h"
#include "collect/definitions.h"
#include "collect/event_record.h"
#include "collect/note.h"
#include "collect/profiler_window.h"
#include "collect/settings.h"
#include "collect/stack.h"

namespace stallscope::collect {
namespace {

enum class GpuState : uint32_t { idle, active, finished, forked };
uint32_t g_gpu_state = static_cast<uint32_t>(GpuState::idle);
const CuptiLibrary* g_cupti = nullptr;
CUpti_SubscriberHandle g_subscriber = nullptr;
uint64_t g_callbacks = 0;

// Flushing this often bounds what a SIGKILL loses; CUPTI's own flush period is
// not to be relied on.
constexpr int kFlushPeriodMs = 250;
// Calls without any delivery for this long: another client took the buffers.
constexpr int kStolenAfterPeriods = 8;

// Outside the window CUPTI measures nothing, so that it costs nothing. The end of the window
// begins before the call does: NVIDIA's own injection sample has it so.
void follow_profiler(ProfilerCall call) {
  if (call == ProfilerCall::starts && profiler_starts()) {
    resume_activity();
    trace_calls(*g_cupti, g_subscriber, true);
  } else if (call == ProfilerCall::stops && profiler_stops()) {
    flush_activity(false);
    trace_calls(*g_cupti, g_subscriber, false);
    pause_activity();
  }
}

bool is_in(GpuState state) {
  return __atomic_load_n(&g_gpu_state, __ATOMIC_ACQUIRE) == static_cast<uint32_t>(state);
}

void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                      const void* parameter) {
  if (!is_in(GpuState::active)) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE)
    return on_graph(*g_cupti, cbid, *static_cast<const CUpti_ResourceData*>(parameter));
  const auto& data = *static_cast<const CUpti_CallbackData*>(parameter);
  if (g_options.capture_profiler) {
    const ProfilerCall call = profiler_call(domain, cbid, data.callbackSite);
    if (call != ProfilerCall::none) return follow_profiler(call);
  }
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  Thread* const thread = this_thread();
  // The runtime calls the driver under its own correlation: that call would be the same once more.
  const bool nested = thread != nullptr && !runtime && thread->cuda_call == data.correlationId;
  if (data.callbackSite == CUPTI_API_ENTER) {
    // With a context its committed records go as well: they are asked for before.
    if (ends_context(runtime, cbid)) flush_activity(true);
    if (thread != nullptr && runtime) thread->cuda_call = data.correlationId;
    *data.correlationData = ticks();
    return;
  }
  if (nested) return;
  __atomic_add_fetch(&g_callbacks, 1, __ATOMIC_RELAXED);
  if (thread == nullptr || thread->in_recorder != 0) return;
  EventRecord event(EventKind::api, 0);
  const uint64_t end = ticks();
  event.set_ticks(*data.correlationData, end);
  event.name = api_name(*g_cupti, runtime, cbid);
  event.correlation = data.correlationId;
  if (is_traced(runtime, cbid)) event.stack = take_stack(*thread, kStackAlways);
  event.write();
  charge(*g_session, end);
}

void* flush_until_finished(void*) {
  int silent_periods = 0;
  bool warned = false;
  uint64_t callbacks_seen = 0;
  while (is_in(GpuState::active)) {
    timespec pause{0, kFlushPeriodMs * 1'000'000L};
    nanosleep(&pause, nullptr);
    if (!is_in(GpuState::active)) break;
    flush_activity(false);
    const uint64_t callbacks = __atomic_load_n(&g_callbacks, __ATOMIC_RELAXED);
    const bool calls_go_on = callbacks != callbacks_seen;
    callbacks_seen = callbacks;
    silent_periods = activity_is_delivered() || !calls_go_on ? 0 : silent_periods + 1;
    if (silent_periods >= kStolenAfterPeriods && !warned) {
      warned = true;
      note(
          "Another profiler took over CUPTI's buffers: from then on calls are recorded, device "
          "work is not; "
          "run without the other profiler to see it");
    }
  }
  return nullptr;
}

// A forked child must never call CUPTI: it can hang.
void in_child() {
  __atomic_store_n(&g_gpu_state, static_cast<uint32_t>(GpuState::forked), __ATOMIC_RELEASE);
}

/// False when nothing was being recorded.
bool stop() {
  uint32_t active = static_cast<uint32_t>(GpuState::active);
  if (!__atomic_compare_exchange_n(&g_gpu_state, &active, static_cast<uint32_t>(GpuState::finished),
                                   false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return false;
  stop_activity();
  g_cupti->unsubscribe(g_subscriber);
  return true;
}

void finish() {
  stop();
}

constexpr char kReleased[] =
    "The program started a profiler of its own: from then on device work is not recorded, so that "
    "its profile is whole (import that profile, or run without it to see the device here)";
constexpr char kLeftToOther[] = "device work was left to a profiler of the program's own";
uint32_t g_released = 0;

GpuLevel wanted_level() {
  const char* text = getenv(settings::kGpu);
  if (text == nullptr || strcmp(text, "light") == 0) return GpuLevel::light;
  if (strcmp(text, "full") == 0) return GpuLevel::full;
  return GpuLevel::none;
}

/// Subscribes and says so when it cannot.
bool subscribe() {
  const CUptiResult subscribed = g_cupti->subscribe(&g_subscriber, on_call, nullptr);
  if (subscribed == CUPTI_SUCCESS) return true;
  note(subscribed == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
           ? "Another profiler holds CUPTI's only subscription: device work is recorded, stacks "
             "of its calls are not"
           : "CUPTI refused the subscription: stacks of CUDA calls are not recorded");
  return false;
}

void start() {
  const GpuLevel level = wanted_level();
  if (level == GpuLevel::none || !prepare() || session() == nullptr) return;
  // A profiler that came before the driver is there first: two would harm each other.
  if (__atomic_load_n(&g_released, __ATOMIC_ACQUIRE) != 0) {
    open_hole(kLeftToOther, true);
    capture_everything();
    return note(kReleased);
  }
  const char* reason = "";
  g_cupti = load_cupti(&reason);
  if (g_cupti == nullptr) {
    capture_everything();
    return note(reason);
  }
  const bool has_callbacks = subscribe();
  if (!has_callbacks ||
      (g_options.capture_profiler && !watch_profiler_calls(*g_cupti, g_subscriber)))
    capture_everything();
  if (!start_activity(*g_cupti, level, &reason)) {
    capture_everything();
    note("CUPTI cannot record device work here (is the driver new enough for it?)");
    note(reason);
    if (has_callbacks) g_cupti->unsubscribe(g_subscriber);
    return;
  }
  if (has_callbacks) {
    if (g_options.capture_profiler)
      pause_activity();
    else
      trace_calls(*g_cupti, g_subscriber, true);
    // Always: a graph that is captured outside the window may be replayed within it.
    if (!trace_graphs(*g_cupti, g_subscriber))
      note(
          "This version of CUPTI does not tell how CUDA graphs are made: their kernels are charged "
          "to the line that launches the graph");
  }
  __atomic_store_n(&g_gpu_state, static_cast<uint32_t>(GpuState::active), __ATOMIC_RELEASE);
  pthread_atfork(nullptr, nullptr, in_child);
  atexit(finish);
  (void)start_background(flush_until_finished, nullptr, 0);  // without it the end flushes all
}

pthread_once_t g_once = PTHREAD_ONCE_INIT;

}  // namespace

}  // namespace stallscope::collect

/// Hands CUPTI over to a profiler that the program is about to start: what was recorded is
/// delivered, then the buffers and the subscription are free. For good: taking them back would
/// harm that profiler's later sessions. Does nothing where no device work is recorded.
extern "C" __attribute__((visibility("default"))) void stallscope_release_gpu(void) {
  __atomic_store_n(&stallscope::collect::g_released, 1, __ATOMIC_RELEASE);
  if (!stallscope::collect::stop()) return;
  stallscope::collect::note(stallscope::collect::kReleased);
  stallscope::collect::capture_everything();
  stallscope::collect::open_hole(stallscope::collect::kLeftToOther, true);
}

/// Takes what CUPTI has not delivered yet: the program is about to end or to replace itself in a
/// way that nobody is told of. Does nothing in a forked child, which must not call CUPTI.
extern "C" __attribute__((visibility("default"))) void stallscope_flush_gpu(void) {
  if (stallscope::collect::is_in(stallscope::collect::GpuState::active))
    stallscope::collect::flush_activity(true);
}

/// Called by the CUDA driver when it initialises. 1 = stay loaded.
extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
  pthread_once(&stallscope::collect::g_once, stallscope::collect::start);
  return 1;
}
