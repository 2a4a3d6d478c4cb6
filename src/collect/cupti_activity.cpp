#include "collect/cupti_activity.h"

#include "collect/clock.h"
#include "collect/cupti_calls.h"
#include "collect/cupti_records.h"
#include "collect/memory.h"

namespace stallscope::collect {
namespace {

// Since 13.0 buffers are per thread, so that small ones are enough (the vendor
// recommends 1 to 10 MB).
constexpr size_t kBufferBytes = 1 << 20;
constexpr int kMaxSpare = 64;

const CuptiLibrary* g_cupti = nullptr;
GpuLevel g_level = GpuLevel::none;
int64_t g_clock_offset_ns = 0;
uint64_t g_deliveries = 0;
uint64_t g_deliveries_seen = 0;

// Given-back buffers, kept for the next request.
SpinLock g_spare_lock;
uint8_t* g_spare[kMaxSpare];
int g_spare_count = 0;

// A last resort when there is no memory: CUPTI must never be given NULL.
alignas(8) uint8_t g_reserve[64 * 1024];

constexpr CUpti_ActivityKind kKinds[] = {
    CUPTI_ACTIVITY_KIND_RUNTIME,    CUPTI_ACTIVITY_KIND_DRIVER,
    CUPTI_ACTIVITY_KIND_MEMCPY,     CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
    CUPTI_ACTIVITY_KIND_OVERHEAD,   CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
// Seldom records, or such as not every version and device has: a run does without them.
constexpr CUpti_ActivityKind kOptionalKinds[] = {
    CUPTI_ACTIVITY_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_STREAM,
    CUPTI_ACTIVITY_KIND_JIT,     CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API};

void CUPTIAPI on_request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *max_records = 0;  // as many as fit
  *size = kBufferBytes;
  {
    Locked lock(g_spare_lock);
    if (lock && g_spare_count > 0) {
      *buffer = g_spare[--g_spare_count];
      return;
    }
  }
  *buffer = static_cast<uint8_t*>(map_private(kBufferBytes));
  if (*buffer == nullptr) {
    *buffer = g_reserve;
    *size = sizeof g_reserve;
  }
}

void CUPTIAPI on_complete(CUcontext context, uint32_t stream, uint8_t* buffer, size_t,
                          size_t valid) {
  __atomic_add_fetch(&g_deliveries, 1, __ATOMIC_RELAXED);
  CUpti_Activity* record = nullptr;
  while (valid > 0 && g_cupti->next_record(buffer, valid, &record) == CUPTI_SUCCESS)
    write_activity(*g_cupti, *record);
  size_t dropped = 0;
  if (g_cupti->dropped_records(context, stream, &dropped) == CUPTI_SUCCESS && dropped > 0)
    count_dropped(dropped);
  if (buffer == g_reserve) return;
  Locked lock(g_spare_lock);
  if (lock && g_spare_count < kMaxSpare)
    g_spare[g_spare_count++] = buffer;
  else
    munmap(buffer, kBufferBytes);
}

// CUPTI's clock minus ours: the narrowest of several readings, since the thread may lose its CPU
// between the two.
int64_t measured_offset_ns(const CuptiLibrary& cupti) {
  constexpr int kReadings = 5;
  int64_t offset = 0, narrowest = INT64_MAX;
  for (int i = 0; i < kReadings; ++i) {
    uint64_t theirs = 0;
    const int64_t before = clock_ns(CLOCK_REALTIME);
    if (cupti.get_timestamp(&theirs) != CUPTI_SUCCESS) break;
    const int64_t width = clock_ns(CLOCK_REALTIME) - before;
    if (width < 0 || width >= narrowest) continue;
    narrowest = width;
    offset = static_cast<int64_t>(theirs) - (before + width / 2);
  }
  return offset;
}

// The first failure among the kinds that a recording cannot do without.
CUptiResult enable_kinds() {
  CUptiResult result = CUPTI_SUCCESS;
  if (g_level == GpuLevel::light) result = g_cupti->enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  for (const CUpti_ActivityKind kind : kKinds) {
    if (result != CUPTI_SUCCESS) return result;
    result = g_cupti->enable(kind);
  }
  for (const CUpti_ActivityKind kind : kOptionalKinds) g_cupti->enable(kind);
  // After their kinds: that is where CUPTI takes it.
  silence_calls(*g_cupti);
  return result;
}

}  // namespace

bool start_activity(const CuptiLibrary& cupti, GpuLevel level, const char** reason) {
  g_cupti = &cupti;
  g_level = level;
  g_clock_offset_ns = measured_offset_ns(cupti);
  CUptiResult result = cupti.register_buffers(on_request, on_complete);
  if (result == CUPTI_SUCCESS) result = enable_kinds();
  if (result != CUPTI_SUCCESS) {
    cupti.get_result_string(result, reason);
    return false;
  }
  // Thread ids as the rest of the trace has them, not pthread handles.
  if (cupti.set_thread_id_type != nullptr)
    cupti.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (cupti.enable_all_sync_records != nullptr) cupti.enable_all_sync_records(0);
  return true;
}

void flush_activity(bool force) {
  if (g_cupti != nullptr) g_cupti->flush_all(force ? 1 : 0);
}

void pause_activity() {
  for (const CUpti_ActivityKind kind : kKinds) g_cupti->disable(kind);
  for (const CUpti_ActivityKind kind : kOptionalKinds) g_cupti->disable(kind);
  if (g_level == GpuLevel::light) g_cupti->disable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

void resume_activity() {
  (void)enable_kinds();  // as it could be before
}

void stop_activity() {
  if (g_cupti == nullptr) return;
  pause_activity();
  g_cupti->flush_all(1);
}

bool activity_is_delivered() {
  const uint64_t deliveries = __atomic_load_n(&g_deliveries, __ATOMIC_RELAXED);
  const bool delivered = deliveries != g_deliveries_seen;
  g_deliveries_seen = deliveries;
  return delivered;
}

int64_t cupti_clock_offset_ns() {
  return g_clock_offset_ns;
}

}  // namespace stallscope::collect
