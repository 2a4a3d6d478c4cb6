#include "collect/cupti_records.h"

#include <stdlib.h>
#include <string.h>

#include "collect/clock.h"
#include "collect/cupti_activity.h"
#include "collect/cupti_calls.h"
#include "collect/cupti_graphs.h"
#include "collect/definitions.h"
#include "collect/event_record.h"
#include "collect/text.h"

namespace stallscope::collect {
namespace {

// CUPTI gives the newest record of its own version. The fields read here lie at
// the same place in every version since 12.0, but for those gated below.
constexpr uint32_t kVersionWithEventSyncId = 27;       // 12.9
constexpr uint32_t kVersionWithOverheadData = 130000;  // its data is ours to free
constexpr uint32_t kVersionWithJitThread = 22;         // 12.4

uint32_t g_api_names[2][kMaxCbid];  // string numbers; 0 = not asked yet

// Names of kernels, by the pointer CUPTI gives: the same for every launch.
constexpr size_t kNameSlots = 8192;
struct KnownName {
  const char* pointer;
  uint32_t number;
};
KnownName g_names[kNameSlots];

uint32_t kernel_name(const char* name) {
  if (name == nullptr) return 0;
  KnownName& slot = g_names[(reinterpret_cast<uintptr_t>(name) >> 4) % kNameSlots];
  if (__atomic_load_n(&slot.pointer, __ATOMIC_ACQUIRE) == name) return slot.number;
  const uint32_t number = text_number(name);
  // Another delivery thread may fill the slot for another name: a reader must
  // never see this pointer with that number.
  const char* empty = nullptr;
  if (slot.number == 0 &&
      __atomic_compare_exchange_n(&slot.pointer, &empty, reinterpret_cast<const char*>(1), false,
                                  __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    slot.number = number;
    __atomic_store_n(&slot.pointer, name, __ATOMIC_RELEASE);
  }
  return number;
}

uint64_t realtime(uint64_t cupti_ns) {
  return cupti_ns - static_cast<uint64_t>(cupti_clock_offset_ns());
}

void set_times(EventRecord& event, uint64_t start, uint64_t end) {
  event.set_realtime(realtime(start), realtime(end));
}

uint8_t copy_kind(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return static_cast<uint8_t>(CopyKind::host_to_device);
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return static_cast<uint8_t>(CopyKind::device_to_host);
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return static_cast<uint8_t>(CopyKind::device_to_device);
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return static_cast<uint8_t>(CopyKind::host_to_host);
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return static_cast<uint8_t>(CopyKind::peer);
    default:
      return static_cast<uint8_t>(CopyKind::unknown);
  }
}

const char* memory_kind(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return "pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return "pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
      return "device";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return "managed";
    default:
      return nullptr;
  }
}

const char* overhead_name(uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return "driver compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "CUPTI buffer flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "CUPTI instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "CUPTI resource";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "module loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
      return "lazy function loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
      return "command buffer full";
    default:
      return "overhead";
  }
}

/// Of the device's own work: what it had no room to time has neither begin nor end, and is lost.
template <typename Record>
bool is_timed(const Record& record) {
  if (record.end != 0) return true;
  count_dropped(1);
  return false;
}

template <typename Record>
uint32_t lane_of_stream(const Record& record) {
  return lane_number(static_cast<int32_t>(record.deviceId), record.contextId, record.streamId);
}

uint32_t lane_of_thread(uint32_t thread) {
  return thread == 0 ? 0 : lane_number(-1, 0, thread);
}

void write_api(const CuptiLibrary& cupti, const CUpti_ActivityAPI& record, bool runtime) {
  if (is_traced(runtime, record.cbid)) return;
  EventRecord event(EventKind::api, 0);
  event.name = api_name(cupti, runtime, record.cbid);
  event.correlation = record.correlationId;
  event.lane = lane_of_thread(record.threadId);
  set_times(event, record.start, record.end);
  event.write();
}

// What a graph ran carries the stack that captured it; its correlation leads to the launch of the
// graph. The fields lie at the same place in every record since 12.0.
template <typename Record>
void set_graph_node(EventRecord& event, const Record& record) {
  if (record.graphId == 0) return;
  event.add(kKeyGraph, record.graphId);
  event.add(kKeyGraphNode, static_cast<int64_t>(record.graphNodeId));
  event.stack = capture_stack(record.graphNodeId);
}

// A launch outside of any public call; its record names no function.
void write_internal_launch(const CUpti_ActivityAPI& record) {
  EventRecord event(EventKind::api, static_cast<uint8_t>(ApiCall::launch));
  event.name = text_number("driver's internal launch");
  event.correlation = record.correlationId;
  event.lane = lane_of_thread(record.threadId);
  set_times(event, record.start, record.end);
  event.write();
}

void write_kernel(const CUpti_ActivityKernel10& record) {
  if (!is_timed(record)) return;
  EventRecord event(EventKind::kernel, 0);
  event.name = kernel_name(record.name);
  event.correlation = record.correlationId;
  event.lane = lane_of_stream(record);
  set_times(event, record.start, record.end);
  set_graph_node(event, record);
  event.write();
}

// CUpti_ActivityMemcpy6, or CUpti_ActivityMemcpyPtoP4 of a copy between devices.
template <typename Record>
void write_copy(const Record& record) {
  if (!is_timed(record)) return;
  EventRecord event(EventKind::memcpy, copy_kind(record.copyKind));
  event.correlation = record.correlationId;
  event.lane = lane_of_stream(record);
  set_times(event, record.start, record.end);
  event.add(kKeyBytes, static_cast<int64_t>(record.bytes));
  event.add_text(kKeySourceMemory, text_number(memory_kind(record.srcKind)));
  event.add_text(kKeyTargetMemory, text_number(memory_kind(record.dstKind)));
  event.add(kKeyAsync, (record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0 ? 1 : 0);
  set_graph_node(event, record);
  event.write();
}

void write_memset(const CUpti_ActivityMemset4& record) {
  if (!is_timed(record)) return;
  EventRecord event(EventKind::memset, 0);
  event.correlation = record.correlationId;
  event.lane = lane_of_stream(record);
  set_times(event, record.start, record.end);
  event.add(kKeyBytes, static_cast<int64_t>(record.bytes));
  set_graph_node(event, record);
  event.write();
}

void write_sync(const CuptiLibrary& cupti, const CUpti_ActivitySynchronization2& record) {
  SyncKind kind = SyncKind::unknown;
  switch (record.type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      kind = SyncKind::event;
      break;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
      kind = SyncKind::stream_wait_event;
      break;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      kind = SyncKind::stream;
      break;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
      kind = SyncKind::device;
      break;
    default:
      break;
  }
  // A stream's wait for another stream's event blocks no host thread.
  const bool stream_wait = kind == SyncKind::stream_wait_event;
  EventRecord event(stream_wait ? EventKind::stream_wait : EventKind::sync,
                    stream_wait ? 0 : static_cast<uint8_t>(kind));
  event.correlation = record.correlationId;
  set_times(event, record.start, record.end);
  if (record.streamId != CUPTI_SYNCHRONIZATION_INVALID_VALUE)
    event.add(kKeyStream, record.streamId);
  if (record.cudaEventId != CUPTI_SYNCHRONIZATION_INVALID_VALUE)
    event.add(kKeyEvent, record.cudaEventId);
  event.add(kKeyContext, record.contextId);
  if (cupti.version >= kVersionWithEventSyncId && record.cudaEventSyncId != 0)
    event.add(kKeyEventRecord, static_cast<int64_t>(record.cudaEventSyncId));
  event.write();
}

void write_event_record(const CuptiLibrary& cupti, const CUpti_ActivityCudaEvent2& record) {
  EventRecord event(EventKind::event_record, 0);
  event.correlation = record.correlationId;
  event.add(kKeyStream, record.streamId);
  event.add(kKeyEvent, record.eventId);
  event.add(kKeyContext, record.contextId);
  if (cupti.version >= kVersionWithEventSyncId)
    event.add(kKeyEventRecord, static_cast<int64_t>(record.cudaEventSyncId));
  event.write();
}

// Loading and compiling code is the program's doing, whoever profiles it.
bool is_loading(uint32_t overhead) {
  return overhead == CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER ||
         overhead == CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING ||
         overhead == CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
}

void write_overhead(const CuptiLibrary& cupti, const CUpti_ActivityOverhead3& record) {
  const bool loading = is_loading(record.overheadKind);
  EventRecord event(loading ? EventKind::api : EventKind::overhead,
                    loading ? static_cast<uint8_t>(ApiCall::module_load) : 0);
  event.name = text_number(overhead_name(record.overheadKind));
  if (record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD)
    event.lane = lane_of_thread(record.objectId.pt.threadId);
  set_times(event, record.start, record.end);
  event.write();
  if (cupti.version >= kVersionWithOverheadData) free(record.overheadData);
}

const char* jit_name(const CUpti_ActivityJit2& record) {
  switch (record.jitOperationType) {
    case CUPTI_ACTIVITY_JIT_OPERATION_CACHE_LOAD:
      return "JIT: cubin read from the cache";
    case CUPTI_ACTIVITY_JIT_OPERATION_CACHE_STORE:
      return "JIT: cubin put into the cache";
    default:
      return record.jitEntryType == CUPTI_ACTIVITY_JIT_ENTRY_NVVM_IR_TO_PTX
                 ? "JIT: NVVM IR compiled to PTX"
                 : "JIT: PTX compiled to cubin";
  }
}

void write_jit(const CuptiLibrary& cupti, const CUpti_ActivityJit2& record) {
  EventRecord event(EventKind::api, static_cast<uint8_t>(ApiCall::module_load));
  event.name = text_number(jit_name(record));
  event.correlation = record.correlationId;
  if (cupti.version >= kVersionWithJitThread) event.lane = lane_of_thread(record.threadId);
  set_times(event, record.start, record.end);
  event.add(kKeyDevice, record.deviceId);
  event.write();
}

// Which stream of a context is the default one.
void write_context(const CUpti_ActivityContext3& record) {
  EventRecord event(EventKind::marker, 0);
  event.name = text_number("CUDA context");
  event.set_ticks(ticks(), 0);
  event.add(kKeyDevice, record.deviceId);
  event.add(kKeyContext, record.contextId);
  event.add(kKeyStream, record.nullStreamId);
  event.write();
}

void write_stream(const CUpti_ActivityStream& record) {
  char name[64];
  TextBuilder text(name, sizeof name);
  text.add(record.flag == CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
               ? "CUDA stream, non-blocking"
           : record.flag == CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL ? "CUDA stream, default"
                                                                   : "CUDA stream");
  if (const auto priority = static_cast<int32_t>(record.priority); priority != 0)
    text.add(", priority ").add_number(priority);
  EventRecord event(EventKind::marker, 0);
  event.name = text_number(name);
  event.set_ticks(ticks(), 0);
  event.correlation = record.correlationId;
  event.add(kKeyContext, record.contextId);
  event.add(kKeyStream, record.streamId);
  event.write();
}

void write_graph(const CUpti_ActivityGraphTrace2& record) {
  if (!is_timed(record)) return;
  EventRecord event(EventKind::graph_launch, 0);
  char name[32];
  TextBuilder(name, sizeof name).add("CUDA graph ").add_number(record.graphId);
  event.name = text_number(name);
  event.correlation = record.correlationId;
  event.lane = lane_of_stream(record);
  set_times(event, record.start, record.end);
  event.add(kKeyGraph, record.graphId);
  event.write();
}

void write_memory(const CUpti_ActivityMemory4& record) {
  const bool release = record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  EventRecord event(EventKind::alloc,
                    static_cast<uint8_t>(release ? AllocKind::release : AllocKind::allocate));
  event.correlation = record.correlationId;
  set_times(event, record.timestamp, record.timestamp);
  event.add(kKeyBytes, static_cast<int64_t>(record.bytes));
  event.add(kKeyAddress, static_cast<int64_t>(record.address));
  event.add(kKeyDevice, record.deviceId);
  event.add_text(kKeyTargetMemory,
                 text_number(memory_kind(static_cast<uint8_t>(record.memoryKind))));
  event.write();
}

template <typename Record>
const Record& as(const CUpti_Activity& record) {
  return *reinterpret_cast<const Record*>(&record);
}

}  // namespace

void write_activity(const CuptiLibrary& cupti, const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return write_api(cupti, as<CUpti_ActivityAPI>(record), true);
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return write_api(cupti, as<CUpti_ActivityAPI>(record), false);
    case CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API:
      return write_internal_launch(as<CUpti_ActivityAPI>(record));
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return write_kernel(as<CUpti_ActivityKernel10>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return write_copy(as<CUpti_ActivityMemcpy6>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return write_copy(as<CUpti_ActivityMemcpyPtoP4>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return write_memset(as<CUpti_ActivityMemset4>(record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return write_sync(cupti, as<CUpti_ActivitySynchronization2>(record));
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return write_event_record(cupti, as<CUpti_ActivityCudaEvent2>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return write_overhead(cupti, as<CUpti_ActivityOverhead3>(record));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return write_graph(as<CUpti_ActivityGraphTrace2>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return write_memory(as<CUpti_ActivityMemory4>(record));
    case CUPTI_ACTIVITY_KIND_JIT:
      return write_jit(cupti, as<CUpti_ActivityJit2>(record));
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return write_context(as<CUpti_ActivityContext3>(record));
    case CUPTI_ACTIVITY_KIND_STREAM:
      return write_stream(as<CUpti_ActivityStream>(record));
    default:
      return;
  }
}

void count_dropped(size_t records) {
  Session* const current = session();
  if (current != nullptr) count_lost(*current, records);
}

uint32_t api_name(const CuptiLibrary& cupti, bool runtime, uint32_t cbid) {
  if (cbid >= kMaxCbid) return 0;
  uint32_t& known = g_api_names[runtime ? 1 : 0][cbid];
  uint32_t number = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (number != 0) return number;
  const char* name = nullptr;
  const auto domain = runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
  if (cupti.get_callback_name(domain, cbid, &name) != CUPTI_SUCCESS) return 0;
  number = text_number(name);
  __atomic_store_n(&known, number, __ATOMIC_RELAXED);
  return number;
}

}  // namespace stallscope::collect
