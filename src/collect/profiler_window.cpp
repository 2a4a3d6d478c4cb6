#include "collect/profiler_window.h"

#include <string.h>

#include "collect/clock.h"
#include "collect/definitions.h"

namespace stallscope::collect {
namespace {

enum class Hole : uint32_t { none, open, for_good };
uint32_t g_hole = static_cast<uint32_t>(Hole::none);

void define_hole(const char* reason, bool opens) {
  segment::Record head{};
  head.kind = segment::RecordKind::hole;
  head.name = intern(reason, strlen(reason));
  head.start = ticks();
  define(head, nullptr, 0, opens ? segment::kHoleOpens : 0);
}

}  // namespace

void open_hole(const char* reason, bool for_good) {
  uint32_t before = __atomic_load_n(&g_hole, __ATOMIC_ACQUIRE);
  if (before == static_cast<uint32_t>(Hole::for_good)) return;
  const auto state = static_cast<uint32_t>(for_good ? Hole::for_good : Hole::open);
  before = __atomic_exchange_n(&g_hole, state, __ATOMIC_ACQ_REL);
  if (before == static_cast<uint32_t>(Hole::none)) define_hole(reason, true);
}

void close_hole() {
  uint32_t open = static_cast<uint32_t>(Hole::open);
  if (__atomic_compare_exchange_n(&g_hole, &open, static_cast<uint32_t>(Hole::none), false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    define_hole("", false);
}

}  // namespace stallscope::collect

// Only where the collector was built with CUPTI's headers.
extern "C" __attribute__((weak)) void stallscope_release_gpu(void);

/// A profiler of the program is about to start: CUPTI is handed over, and until
/// stallscope_profiler_ends() steps are not believed.
extern "C" __attribute__((visibility("default"))) void stallscope_profiler_begins(void) {
  if (!stallscope::collect::prepare() || stallscope::collect::session() == nullptr) return;
  if (stallscope_release_gpu != nullptr) stallscope_release_gpu();
  stallscope::collect::open_hole("a profiler of the program's own was measuring", false);
}

extern "C" __attribute__((visibility("default"))) void stallscope_profiler_ends(void) {
  if (stallscope::collect::session() != nullptr) stallscope::collect::close_hole();
}
