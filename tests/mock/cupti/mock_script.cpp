// The commands of a script (see mock_cupti.h): each becomes a callback or a record.
#include <time.h>
#include <unistd.h>

#include <functional>
#include <sstream>
#include <string_view>

#include "mock_cupti.h"
#include "mock_state.h"

namespace mock_cupti {
namespace {

void sleep_ns(uint64_t duration) {
  timespec pause{static_cast<time_t>(duration / 1'000'000'000),
                 static_cast<long>(duration % 1'000'000'000)};
  nanosleep(&pause, nullptr);
}

/// One line, read word by word. CUPTI's structs are packed: no reference to a field can be taken.
struct Line {
  std::istringstream words;
  uint64_t origin = 0;  ///< times in the script count from here

  uint64_t number() {
    uint64_t value = 0;
    words >> value;
    return value;
  }
  int64_t integer() {
    int64_t value = 0;
    words >> value;
    return value;
  }
  /// 0 when the line ends here.
  uint64_t optional_number() {
    const uint64_t value = number();
    if (words.fail()) words.clear();
    return value;
  }
  std::string word() {
    std::string value;
    words >> value;
    return value;
  }
  /// Empty when the line ends here.
  std::string optional_word() {
    const std::string value = word();
    if (words.fail()) words.clear();
    return value;
  }
  template <typename Record>
  void times(Record& record) {
    record.start = origin + number();
    record.end = record.start + number();
  }
  template <typename Record>
  void place(Record& record) {
    record.correlationId = static_cast<uint32_t>(number());
    record.deviceId = static_cast<uint32_t>(number());
    record.streamId = static_cast<uint32_t>(number());
  }
};

void emit_call(CUpti_ActivityKind kind, uint32_t cbid, uint32_t correlation, uint64_t start) {
  if (state().silenced_calls.contains({kind, cbid})) return;
  CUpti_ActivityAPI record{};
  record.cbid = cbid;
  record.start = start;
  record.end = now_ns();
  record.processId = static_cast<uint32_t>(getpid());
  record.threadId = static_cast<uint32_t>(gettid());
  record.correlationId = correlation;
  emit(kind, record);
}

struct Call {
  bool runtime = false;
  const char* name = nullptr;
  uint32_t cbid = 0;
  uint32_t correlation = 0;
};

template <typename Body>
void announce_call(const Call& call, Body body) {
  State& mock = state();
  const CUpti_CallbackDomain domain =
      call.runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
  const auto kind = call.runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
  const bool call_back = mock.calls_back(domain, call.cbid);
  // A call that is under way when its client unsubscribes still calls back when it ends.
  const CUpti_CallbackFunc callback = mock.callback;
  mock.call_names[{domain, call.cbid}] = call.name;
  uint64_t correlation_data = 0;
  CUpti_CallbackData data{};
  data.functionName = call.name;
  data.correlationId = call.correlation;
  data.correlationData = &correlation_data;
  data.callbackSite = CUPTI_API_ENTER;
  const uint64_t start = now_ns();
  if (call_back && callback != nullptr) callback(mock.callback_data, domain, call.cbid, &data);
  body();
  data.callbackSite = CUPTI_API_EXIT;
  if (call_back && callback != nullptr) callback(mock.callback_data, domain, call.cbid, &data);
  emit_call(kind, call.cbid, call.correlation, start);
}

void call(Line& line) {
  Call outer{.runtime = line.word() == "runtime", .name = state().keep(line.word())};
  outer.cbid = static_cast<uint32_t>(line.number());
  outer.correlation = static_cast<uint32_t>(line.number());
  const uint64_t duration = line.number();
  const std::string inside = line.optional_word();
  announce_call(outer, [&] {
    if (inside.empty()) return sleep_ns(duration);
    const Call inner{.name = state().keep(inside),
                     .cbid = static_cast<uint32_t>(line.number()),
                     .correlation = outer.correlation};
    announce_call(inner, [&] { sleep_ns(duration); });
  });
}

void internal_launch(Line& line) {
  const auto correlation = static_cast<uint32_t>(line.number());
  const uint64_t start = now_ns();
  sleep_ns(line.number());
  emit_call(CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API, 0, correlation, start);
}

// Handles are the numbers themselves, and so are the ids that CUPTI gives for them.
template <typename Handle>
Handle handle(uint64_t number) {
  return reinterpret_cast<Handle>(static_cast<uintptr_t>(number));
}

void announce(CUpti_CallbackIdResource what, CUpti_GraphData data) {
  State& mock = state();
  if (!mock.calls_back(CUPTI_CB_DOMAIN_RESOURCE, what)) return;
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &data;
  mock.callback(mock.callback_data, CUPTI_CB_DOMAIN_RESOURCE, what, &resource);
}

CUpti_GraphData node_data(Line& line) {
  CUpti_GraphData data{};
  data.graph = handle<CUgraph>(line.number());
  data.node = handle<CUgraphNode>(line.number());
  return data;
}

void graph_node(Line& line) {
  CUpti_GraphData data = node_data(line);
  data.nodeType = static_cast<CUgraphNodeType>(line.optional_number());
  announce(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, data);
}

void graph_clone(Line& line) {
  CUpti_GraphData data = node_data(line);
  data.originalGraph = handle<CUgraph>(line.number());
  data.originalNode = handle<CUgraphNode>(line.number());
  announce(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, data);
}

void graph_exec(Line& line) {
  CUpti_GraphData data{};
  data.graphExec = handle<CUgraphExec>(line.number());
  data.graph = handle<CUgraph>(line.number());
  announce(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, data);
}

// The end of a line that may name the graph and the node that ran it.
template <typename Record>
void emit_node(CUpti_ActivityKind kind, Line& line, Record record) {
  record.graphId = static_cast<uint32_t>(line.optional_number());
  record.graphNodeId = line.optional_number();
  // With graph-level records there are none of single nodes.
  const bool whole = state().enabled_kinds.contains(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  if (record.graphId == 0 || !whole) emit(kind, record);
}

void kernel(Line& line) {
  CUpti_ActivityKernel10 record{};
  line.place(record);
  line.times(record);
  record.name = state().keep(line.word());
  record.gridX = record.gridY = record.gridZ = record.blockX = record.blockY = record.blockZ = 1;
  emit_node(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, line, record);
}

void memcpy_command(Line& line) {
  CUpti_ActivityMemcpy6 record{};
  line.place(record);
  record.copyKind = static_cast<uint8_t>(line.number());
  record.srcKind = static_cast<uint8_t>(line.number());
  record.dstKind = static_cast<uint8_t>(line.number());
  record.bytes = line.number();
  line.times(record);
  emit_node(CUPTI_ACTIVITY_KIND_MEMCPY, line, record);
}

void peer_copy(Line& line) {
  CUpti_ActivityMemcpyPtoP4 record{};
  line.place(record);
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  record.srcKind = record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.srcDeviceId = record.deviceId;
  record.dstDeviceId = static_cast<uint32_t>(line.number());
  record.bytes = line.number();
  line.times(record);
  emit_node(CUPTI_ACTIVITY_KIND_MEMCPY2, line, record);
}

// A kernel for which the device had no room to keep its times.
void untimed(Line& line) {
  CUpti_ActivityKernel10 record{};
  line.place(record);
  record.name = state().keep(line.word());
  emit_node(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, line, record);
}

void memset_command(Line& line) {
  CUpti_ActivityMemset4 record{};
  line.place(record);
  record.bytes = line.number();
  line.times(record);
  emit_node(CUPTI_ACTIVITY_KIND_MEMSET, line, record);
}

void sync(Line& line) {
  CUpti_ActivitySynchronization2 record{};
  record.correlationId = static_cast<uint32_t>(line.number());
  record.type = static_cast<CUpti_ActivitySynchronizationType>(line.number());
  record.streamId = static_cast<uint32_t>(line.number());
  record.cudaEventId = static_cast<uint32_t>(line.number());
  line.times(record);
  emit(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, record);
}

void event(Line& line) {
  CUpti_ActivityCudaEvent2 record{};
  record.correlationId = static_cast<uint32_t>(line.number());
  record.streamId = static_cast<uint32_t>(line.number());
  record.eventId = static_cast<uint32_t>(line.number());
  emit(CUPTI_ACTIVITY_KIND_CUDA_EVENT, record);
}

void overhead(Line& line) {
  CUpti_ActivityOverhead3 record{};
  record.overheadKind = static_cast<CUpti_ActivityOverheadKind>(line.number());
  line.times(record);
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.objectId.pt.processId = static_cast<uint32_t>(getpid());
  record.objectId.pt.threadId = static_cast<uint32_t>(gettid());
  emit(CUPTI_ACTIVITY_KIND_OVERHEAD, record);
}

void jit(Line& line) {
  CUpti_ActivityJit2 record{};
  record.correlationId = static_cast<uint32_t>(line.number());
  record.jitEntryType = static_cast<CUpti_ActivityJitEntryType>(line.number());
  record.jitOperationType = static_cast<CUpti_ActivityJitOperationType>(line.number());
  line.times(record);
  record.processId = static_cast<uint32_t>(getpid());
  record.threadId = static_cast<uint32_t>(gettid());
  emit(CUPTI_ACTIVITY_KIND_JIT, record);
}

void context(Line& line) {
  CUpti_ActivityContext3 record{};
  record.contextId = static_cast<uint32_t>(line.number());
  record.deviceId = static_cast<uint32_t>(line.number());
  record.nullStreamId = static_cast<uint16_t>(line.number());
  emit(CUPTI_ACTIVITY_KIND_CONTEXT, record);
}

void stream(Line& line) {
  CUpti_ActivityStream record{};
  record.contextId = static_cast<uint32_t>(line.number());
  record.streamId = static_cast<uint32_t>(line.number());
  record.flag = static_cast<CUpti_ActivityStreamFlag>(line.number());
  record.priority = static_cast<uint32_t>(line.integer());
  emit(CUPTI_ACTIVITY_KIND_STREAM, record);
}

// What was not delivered goes with the context, as when a device is reset.
void lose() {
  State& mock = state();
  std::lock_guard lock(mock.mutex);
  mock.current.used = 0;
  mock.held.clear();
}

void graph(Line& line) {
  CUpti_ActivityGraphTrace2 record{};
  line.place(record);
  record.graphId = static_cast<uint32_t>(line.number());
  line.times(record);
  emit(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, record);
}

void memory(Line& line) {
  CUpti_ActivityMemory4 record{};
  record.correlationId = static_cast<uint32_t>(line.number());
  record.memoryOperationType = static_cast<CUpti_ActivityMemoryOperationType>(line.number());
  record.memoryKind = static_cast<CUpti_ActivityMemoryKind>(line.number());
  record.address = line.number();
  record.bytes = line.number();
  record.timestamp = line.origin + line.number();
  emit(CUPTI_ACTIVITY_KIND_MEMORY2, record);
}

const std::map<std::string_view, std::function<void(Line&)>> kCommands = {
    {"call", call},
    {"node", graph_node},
    {"clone", graph_clone},
    {"exec", graph_exec},
    {"kernel", kernel},
    {"memcpy", memcpy_command},
    {"peer", peer_copy},
    {"untimed", untimed},
    {"memset", memset_command},
    {"sync", sync},
    {"event", event},
    {"overhead", overhead},
    {"internal", internal_launch},
    {"jit", jit},
    {"context", context},
    {"stream", stream},
    {"graph", graph},
    {"memory", memory},
    {"deliver", [](Line&) { deliver(); }},
    {"hold", [](Line&) { state().holding = true; }},
    {"drop", [](Line& line) { state().dropped = line.number(); }},
    {"lose", [](Line&) { lose(); }},
    {"steal", [](Line&) { state().stolen = true; }},
    {"sleep", [](Line& line) { sleep_ns(line.number()); }},
};

bool play_line(const std::string& text, uint64_t origin) {
  Line line{std::istringstream(text), origin};
  const std::string command = line.word();
  if (command.empty() || command[0] == '#') return true;
  const auto known = kCommands.find(command);
  if (known == kCommands.end()) return false;
  known->second(line);
  return !line.words.fail();
}

}  // namespace
}  // namespace mock_cupti

extern "C" int mock_cupti_play(const char* script) {
  std::istringstream lines(script);
  const uint64_t origin = mock_cupti::now_ns();
  std::string text;
  for (int number = 1; std::getline(lines, text); ++number)
    if (!mock_cupti::play_line(text, origin)) return number;
  return 0;
}
