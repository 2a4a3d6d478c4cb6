// A library with CUPTI's real ABI and no device: the collector under test loads
// it as libcupti.so.13, and a script decides what it records and delivers.
#include "mock_cupti.h"

#include <time.h>

#include <cstdlib>

#include "mock_state.h"

namespace mock_cupti {
namespace {

uint32_t version() {
  const char* text = getenv("MOCK_CUPTI_VERSION");
  return text != nullptr ? static_cast<uint32_t>(atoi(text)) : CUPTI_API_VERSION;
}

// Record sizes grow with the version; the fields both know stay where they were.
size_t record_size(CUpti_ActivityKind kind) {
  const bool before_12_9 = version() < 27;
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return version() < 130000 ? sizeof(CUpti_ActivityKernel9) : sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return before_12_9 ? sizeof(CUpti_ActivityMemcpy5) : sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_JIT:
      return version() < 22 ? sizeof(CUpti_ActivityJit) : sizeof(CUpti_ActivityJit2);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return sizeof(CUpti_ActivityContext3);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return before_12_9 ? sizeof(CUpti_ActivitySynchronization)
                         : sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return before_12_9 ? sizeof(CUpti_ActivityCudaEvent) : sizeof(CUpti_ActivityCudaEvent2);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return sizeof(CUpti_ActivityOverhead3);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return sizeof(CUpti_ActivityGraphTrace2);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(CUpti_ActivityMemory4);
    default:
      return sizeof(CUpti_ActivityAPI);
  }
}

// Room for `size` bytes in the buffer; false when the client gives none.
bool has_room(size_t size) {
  State& mock = state();
  if (mock.current.data != nullptr && mock.current.used + size > mock.current.size) deliver();
  if (mock.current.data != nullptr) return true;
  if (mock.request_buffer == nullptr) return false;
  size_t max_records = 0;
  mock.request_buffer(&mock.current.data, &mock.current.size, &max_records);
  return mock.current.data != nullptr;
}

void append(const std::vector<uint8_t>& bytes) {
  State& mock = state();
  if (mock.stolen || !has_room(bytes.size())) return;
  memcpy(mock.current.data + mock.current.used, bytes.data(), bytes.size());
  mock.current.used += bytes.size();
}

void release_held() {
  State& mock = state();
  mock.holding = false;
  for (const auto& bytes : std::exchange(mock.held, {})) append(bytes);
}

}  // namespace

State& state() {
  static State& only = *new State;  // outlives every client that flushes at exit
  return only;
}

uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000ULL +
         static_cast<uint64_t>(time.tv_nsec);
}

void deliver() {
  State& mock = state();
  std::lock_guard lock(mock.mutex);
  const Buffer buffer = std::exchange(mock.current, {});
  if (buffer.data != nullptr && !mock.stolen && mock.complete_buffer != nullptr)
    mock.complete_buffer(nullptr, 0, buffer.data, buffer.size, buffer.used);
}

void emit_bytes(CUpti_ActivityKind kind, const void* record, size_t size) {
  State& mock = state();
  std::lock_guard lock(mock.mutex);
  if (!mock.enabled_kinds.contains(kind)) return;
  std::vector<uint8_t> bytes(record_size(kind), 0);
  memcpy(bytes.data(), record, std::min(size, bytes.size()));
  if (mock.holding)
    mock.held.push_back(std::move(bytes));
  else
    append(bytes);
}

}  // namespace mock_cupti

using namespace mock_cupti;

extern "C" {

int mock_cupti_subscribers(void) {
  std::lock_guard lock(state().mutex);
  return state().callback != nullptr ? 1 : 0;
}

CUptiResult cuptiGetVersion(uint32_t* out) {
  *out = version();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(uint64_t* out) {
  *out = now_ns();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc function,
                           void* data) {
  if (const char* text = getenv("MOCK_CUPTI_SUBSCRIBE_RESULT"); text != nullptr && atoi(text) != 0)
    return static_cast<CUptiResult>(atoi(text));
  std::lock_guard lock(state().mutex);
  if (state().callback != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  state().callback = function;
  state().callback_data = data;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&state().callback);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  std::lock_guard lock(state().mutex);
  state().callback = nullptr;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  std::lock_guard lock(state().mutex);
  if (enable != 0)
    state().enabled_callbacks.insert({domain, cbid});
  else
    state().enabled_callbacks.erase({domain, cbid});
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle,
                              CUpti_CallbackDomain domain) {
  std::lock_guard lock(state().mutex);
  if (enable != 0)
    state().enabled_domains.insert(domain);
  else
    state().enabled_domains.erase(domain);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
  std::lock_guard lock(state().mutex);
  const auto known = state().call_names.find({domain, cbid});
  if (known == state().call_names.end()) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = known->second;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  *id = reinterpret_cast<uintptr_t>(node);
  return node != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(graph));
  return graph != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiGetGraphExecId(CUgraphExec graph, uint32_t* id) {
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(graph));
  return graph != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "CUPTI_MOCK_RESULT";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  std::lock_guard lock(state().mutex);
  state().request_buffer = request;
  state().complete_buffer = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  // What the driver answers: 999 without one, 14 from one that is too old for this CUPTI.
  if (const char* text = getenv("MOCK_CUPTI_ENABLE_RESULT"); text != nullptr)
    return static_cast<CUptiResult>(atoi(text));
  std::lock_guard lock(state().mutex);
  state().enabled_kinds.insert(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  std::lock_guard lock(state().mutex);
  state().enabled_kinds.erase(kind);
  std::erase_if(state().silenced_calls, [kind](const auto& call) { return call.first == kind; });
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable) {
  std::lock_guard lock(state().mutex);
  if (enable == 0) state().silenced_calls.insert({CUPTI_ACTIVITY_KIND_RUNTIME, cbid});
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable) {
  std::lock_guard lock(state().mutex);
  if (enable == 0) state().silenced_calls.insert({CUPTI_ACTIVITY_KIND_DRIVER, cbid});
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  std::lock_guard lock(state().mutex);
  if (flag != 0) release_held();
  deliver();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<uint8_t*>(*record);
    next += record_size((*record)->kind);
  }
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* count) {
  std::lock_guard lock(state().mutex);
  *count = state().dropped;
  state().dropped = 0;
  return CUPTI_SUCCESS;
}

}  // extern "C"
