// A library with CUPTI's real ABI and no device: the collector under test loads
// it as libcupti.so.13, and a script decides what it records and delivers.
#include "mock_cupti.h"

#include <cupti.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Buffer {
  uint8_t* data = nullptr;
  size_t size = 0, used = 0;
};

// One mutex for everything: CUPTI delivers from any thread.
std::recursive_mutex mutex;
CUpti_CallbackFunc callback = nullptr;
void* callback_data = nullptr;
std::set<std::pair<int, uint32_t>> enabled_callbacks;
std::set<int> enabled_domains;
std::set<int> enabled_kinds;
std::set<std::pair<int, uint32_t>> silenced_calls;
CUpti_BuffersCallbackRequestFunc request_buffer = nullptr;
CUpti_BuffersCallbackCompleteFunc complete_buffer = nullptr;
Buffer current;
std::vector<std::vector<uint8_t>> held;
bool holding = false, stolen = false;
size_t dropped = 0;
std::map<std::string, bool> names;  // names outlive records, as CUPTI's do
std::map<std::pair<int, uint32_t>, const char*> call_names;

uint32_t version() {
  const char* text = getenv("MOCK_CUPTI_VERSION");
  return text != nullptr ? static_cast<uint32_t>(atoi(text)) : CUPTI_API_VERSION;
}

uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);  // CUPTI's default clock on Linux
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000ULL +
         static_cast<uint64_t>(time.tv_nsec);
}

// Record sizes grow with the version; the fields both know stay where they were.
size_t record_size(CUpti_ActivityKind kind) {
  const bool before_12_9 = version() < 27;
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return version() < 130000 ? sizeof(CUpti_ActivityKernel9) : sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return before_12_9 ? sizeof(CUpti_ActivityMemcpy5) : sizeof(CUpti_ActivityMemcpy6);
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

void hand_over(Buffer& buffer) {
  if (buffer.data == nullptr) return;
  if (!stolen && complete_buffer != nullptr)
    complete_buffer(nullptr, 0, buffer.data, buffer.size, buffer.used);
  buffer = {};
}

template <typename Record>
void emit(CUpti_ActivityKind kind, Record record) {
  std::lock_guard lock(mutex);
  if (!enabled_kinds.contains(kind)) return;
  record.kind = kind;
  const size_t size = record_size(kind);
  std::vector<uint8_t> bytes(size, 0);
  memcpy(bytes.data(), &record, std::min(size, sizeof(record)));
  if (holding) {
    held.push_back(std::move(bytes));
    return;
  }
  if (stolen) return;
  if (current.data != nullptr && current.used + size > current.size) hand_over(current);
  if (current.data == nullptr) {
    size_t max_records = 0;
    if (request_buffer == nullptr) return;
    request_buffer(&current.data, &current.size, &max_records);
    if (current.data == nullptr) return;
  }
  memcpy(current.data + current.used, bytes.data(), size);
  current.used += size;
}

void release_held() {
  holding = false;
  const auto records = std::move(held);
  held.clear();
  for (const auto& bytes : records) {
    if (current.data == nullptr) {
      size_t max_records = 0;
      request_buffer(&current.data, &current.size, &max_records);
    }
    memcpy(current.data + current.used, bytes.data(), bytes.size());
    current.used += bytes.size();
  }
}

void play_call(std::istringstream& line) {
  std::string domain_name, name;
  uint32_t cbid = 0, correlation = 0;
  uint64_t duration = 0;
  line >> domain_name >> name >> cbid >> correlation >> duration;
  const bool runtime = domain_name == "runtime";
  const CUpti_CallbackDomain domain =
      runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
  const auto kind = runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
  const char* kept = names.emplace(name, true).first->first.c_str();
  const bool call_back = callback != nullptr && (enabled_domains.contains(domain) ||
                                                 enabled_callbacks.contains({domain, cbid}));
  call_names[{domain, cbid}] = kept;
  uint64_t correlation_data = 0;
  CUpti_CallbackData data{};
  data.functionName = kept;
  data.correlationId = correlation;
  data.correlationData = &correlation_data;
  data.callbackSite = CUPTI_API_ENTER;
  const uint64_t start = now_ns();
  if (call_back) callback(callback_data, domain, cbid, &data);
  timespec pause{static_cast<time_t>(duration / 1'000'000'000),
                 static_cast<long>(duration % 1'000'000'000)};
  nanosleep(&pause, nullptr);
  data.callbackSite = CUPTI_API_EXIT;
  if (call_back) callback(callback_data, domain, cbid, &data);
  if (silenced_calls.contains({kind, cbid})) return;
  CUpti_ActivityAPI record{};
  record.cbid = cbid;
  record.start = start;
  record.end = now_ns();
  record.processId = static_cast<uint32_t>(getpid());
  record.threadId = static_cast<uint32_t>(gettid());
  record.correlationId = correlation;
  emit(kind, record);
}

bool play_line(const std::string& text, uint64_t origin) {
  std::istringstream line(text);
  std::string command;
  if (!(line >> command) || command[0] == '#') return true;
  uint64_t start = 0, duration = 0;
  // CUPTI's structs are packed: no reference to a field can be taken.
  const auto number = [&line] {
    uint64_t value = 0;
    line >> value;
    return value;
  };
  if (command == "call") {
    play_call(line);
  } else if (command == "kernel") {
    CUpti_ActivityKernel10 record{};
    std::string name;
    record.correlationId = number();
    record.deviceId = number();
    record.streamId = number();
    start = number();
    duration = number();
    line >> name;
    record.graphId = number();  // 0 when the line ends here
    record.graphNodeId = number();
    line.clear();
    record.start = origin + start;
    record.end = record.start + duration;
    record.gridX = record.gridY = record.gridZ = record.blockX = record.blockY = record.blockZ = 1;
    record.name = names.emplace(name, true).first->first.c_str();
    emit(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, record);
  } else if (command == "memcpy") {
    CUpti_ActivityMemcpy6 record{};
    unsigned kind = 0, source = 0, target = 0;
    record.correlationId = number();
    record.deviceId = number();
    record.streamId = number();
    kind = number();
    source = number();
    target = number();
    record.bytes = number();
    start = number();
    duration = number();
    record.copyKind = static_cast<uint8_t>(kind);
    record.srcKind = static_cast<uint8_t>(source);
    record.dstKind = static_cast<uint8_t>(target);
    record.start = origin + start;
    record.end = record.start + duration;
    emit(CUPTI_ACTIVITY_KIND_MEMCPY, record);
  } else if (command == "memset") {
    CUpti_ActivityMemset4 record{};
    record.correlationId = number();
    record.deviceId = number();
    record.streamId = number();
    record.bytes = number();
    start = number();
    duration = number();
    record.start = origin + start;
    record.end = record.start + duration;
    emit(CUPTI_ACTIVITY_KIND_MEMSET, record);
  } else if (command == "sync") {
    CUpti_ActivitySynchronization2 record{};
    int type = 0;
    record.correlationId = number();
    type = number();
    record.streamId = number();
    record.cudaEventId = number();
    start = number();
    duration = number();
    record.type = static_cast<CUpti_ActivitySynchronizationType>(type);
    record.start = origin + start;
    record.end = record.start + duration;
    emit(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, record);
  } else if (command == "event") {
    CUpti_ActivityCudaEvent2 record{};
    record.correlationId = number();
    record.streamId = number();
    record.eventId = number();
    emit(CUPTI_ACTIVITY_KIND_CUDA_EVENT, record);
  } else if (command == "overhead") {
    CUpti_ActivityOverhead3 record{};
    unsigned kind = 0;
    kind = number();
    start = number();
    duration = number();
    record.overheadKind = static_cast<CUpti_ActivityOverheadKind>(kind);
    record.start = origin + start;
    record.end = record.start + duration;
    emit(CUPTI_ACTIVITY_KIND_OVERHEAD, record);
  } else if (command == "graph") {
    CUpti_ActivityGraphTrace2 record{};
    record.correlationId = number();
    record.deviceId = number();
    record.streamId = number();
    record.graphId = number();
    start = number();
    duration = number();
    record.start = origin + start;
    record.end = record.start + duration;
    emit(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, record);
  } else if (command == "memory") {
    CUpti_ActivityMemory4 record{};
    int operation = 0, kind = 0;
    record.correlationId = number();
    operation = number();
    kind = number();
    record.address = number();
    record.bytes = number();
    start = number();
    record.memoryOperationType = static_cast<CUpti_ActivityMemoryOperationType>(operation);
    record.memoryKind = static_cast<CUpti_ActivityMemoryKind>(kind);
    record.timestamp = origin + start;
    emit(CUPTI_ACTIVITY_KIND_MEMORY2, record);
  } else if (command == "deliver") {
    std::lock_guard lock(mutex);
    hand_over(current);
  } else if (command == "hold") {
    holding = true;
  } else if (command == "drop") {
    dropped = number();
  } else if (command == "steal") {
    stolen = true;
  } else if (command == "sleep") {
    duration = number();
    timespec pause{static_cast<time_t>(duration / 1'000'000'000),
                   static_cast<long>(duration % 1'000'000'000)};
    nanosleep(&pause, nullptr);
  } else {
    return false;
  }
  return !line.fail();
}

}  // namespace

extern "C" {

int mock_cupti_subscribers(void) {
  std::lock_guard lock(mutex);
  return callback != nullptr ? 1 : 0;
}

int mock_cupti_play(const char* script) {
  std::istringstream lines(script);
  const uint64_t origin = now_ns();
  std::string text;
  for (int number = 1; std::getline(lines, text); ++number)
    if (!play_line(text, origin)) return number;
  return 0;
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
  std::lock_guard lock(mutex);
  if (callback != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  callback = function;
  callback_data = data;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&callback);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  std::lock_guard lock(mutex);
  callback = nullptr;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  std::lock_guard lock(mutex);
  if (enable != 0)
    enabled_callbacks.insert({domain, cbid});
  else
    enabled_callbacks.erase({domain, cbid});
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle,
                              CUpti_CallbackDomain domain) {
  std::lock_guard lock(mutex);
  if (enable != 0)
    enabled_domains.insert(domain);
  else
    enabled_domains.erase(domain);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
  std::lock_guard lock(mutex);
  const auto known = call_names.find({domain, cbid});
  if (known == call_names.end()) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = known->second;
  return CUPTI_SUCCESS;
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
  std::lock_guard lock(mutex);
  request_buffer = request;
  complete_buffer = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (getenv("MOCK_CUPTI_NO_DRIVER") != nullptr) return CUPTI_ERROR_UNKNOWN;
  std::lock_guard lock(mutex);
  enabled_kinds.insert(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  std::lock_guard lock(mutex);
  enabled_kinds.erase(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable) {
  std::lock_guard lock(mutex);
  if (enable == 0) silenced_calls.insert({CUPTI_ACTIVITY_KIND_RUNTIME, cbid});
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable) {
  std::lock_guard lock(mutex);
  if (enable == 0) silenced_calls.insert({CUPTI_ACTIVITY_KIND_DRIVER, cbid});
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  std::lock_guard lock(mutex);
  if (flag != 0) release_held();
  hand_over(current);
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
  std::lock_guard lock(mutex);
  *count = dropped;
  dropped = 0;
  return CUPTI_SUCCESS;
}

}  // extern "C"
