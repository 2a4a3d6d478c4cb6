// When Gloo's collectives end, also those that C++ starts: PyTorch opens a RecordFunction for each
// (scope USER_SCOPE) and ends it where the work ends, on Gloo's own thread. Observers of these are
// public (at::addGlobalCallback); operators, which have another scope, stay unobserved.
#include <dlfcn.h>
#include <string.h>
#include <time.h>

#include "collect/python/own_time.h"
#include "collect/python/wrap.h"

namespace stallscope::python {
namespace {

/// at::RecordFunctionCallback, as the header that PyTorch brings lays it out: who calls has read it
/// there. Longer than it ever was, for the copy that its function takes.
struct Callback {
  void** (*start)(void** context, const void* function);
  void (*end)(const void* function, void* context);
  double sampling;
  bool scopes[24];
};

/// As stallscope_flight.py reads it.
struct Work {
  char name[48];
  int64_t begin_ns;  ///< CLOCK_REALTIME
  int64_t end_ns;    ///< 0 = not over yet
};

constexpr uint32_t kWorks = 8192;     // a power of two
constexpr uint32_t kMostOpen = 1024;  // that are looked through for the one that ended
constexpr char kBackend[] = "gloo:";

Work g_works[kWorks];
const void* g_functions[kWorks];
uint32_t g_count = 0;
const char* (*g_name)(const void*) = nullptr;

int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// The caller's result is a unique_ptr, which it has room for: nothing is kept there.
void** begins(void** context, const void* function) {
  *context = nullptr;
  const char* const name = g_name(function);
  if (name == nullptr || strncmp(name, kBackend, sizeof kBackend - 1) != 0) return context;
  const OwnTime own;
  const uint32_t index = __atomic_fetch_add(&g_count, 1, __ATOMIC_RELAXED) % kWorks;
  Work& work = g_works[index];
  strncpy(work.name, name, sizeof work.name - 1);
  work.begin_ns = now_ns();
  __atomic_store_n(&work.end_ns, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&g_functions[index], function, __ATOMIC_RELEASE);
  return context;
}

void ends(const void* function, void*) {
  const int64_t now = now_ns();
  const uint32_t count = __atomic_load_n(&g_count, __ATOMIC_ACQUIRE);
  for (uint32_t age = 1; age <= count && age <= kMostOpen; ++age) {
    const uint32_t index = (count - age) % kWorks;
    const void* expected = function;
    if (!__atomic_compare_exchange_n(&g_functions[index], &expected, nullptr, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      continue;
    __atomic_store_n(&g_works[index].end_ns, now, __ATOMIC_RELEASE);
    return;
  }
}

}  // namespace

/// Observes `scope`, the number of USER_SCOPE. 1 when it does.
STALLSCOPE_PYTHON_EXPORT int stallscope_python_watch_works(int scope) {
  void* const torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (torch == nullptr || g_name != nullptr || scope < 0 || scope >= 16) return 0;
  const auto add = reinterpret_cast<uint64_t (*)(Callback)>(
      dlsym(torch, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"));
  const auto name = reinterpret_cast<const char* (*)(const void*)>(
      dlsym(torch, "_ZNK2at14RecordFunction4nameEv"));
  if (add == nullptr || name == nullptr) return 0;
  g_name = name;
  Callback callback{begins, ends, 1.0, {}};
  callback.scopes[scope] = true;
  return add(callback) != 0 ? 1 : 0;
}

/// Copies at most `room` of the latest works, oldest first; returns how many.
STALLSCOPE_PYTHON_EXPORT int stallscope_python_works(Work* out, int room) {
  const uint32_t count = __atomic_load_n(&g_count, __ATOMIC_ACQUIRE);
  uint32_t known = count < kWorks ? count : kWorks;
  if (room < 0) return 0;
  if (known > static_cast<uint32_t>(room)) known = static_cast<uint32_t>(room);
  for (uint32_t i = 0; i < known; ++i) out[i] = g_works[(count - known + i) % kWorks];
  return static_cast<int>(known);
}

}  // namespace stallscope::python
