// The device's side of an nsys export: kernels, copies, graphs, synchronisation, memory.
#include <array>

#include "import/nsys_builder.h"

namespace stallscope {
namespace {

// ENUM_CUDA_MEMCPY_OPER
CopyKind copy_kind(int64_t kind) {
  switch (kind) {
    case 1:
    case 3:
    case 11:
      return CopyKind::host_to_device;
    case 2:
    case 4:
    case 12:
      return CopyKind::device_to_host;
    case 5:
    case 6:
    case 7:
    case 8:
    case 13:
      return CopyKind::device_to_device;
    case 9:
      return CopyKind::host_to_host;
    case 10:
      return CopyKind::peer;
    default:
      return CopyKind::unknown;
  }
}

std::string_view copy_name(CopyKind kind) {
  switch (kind) {
    case CopyKind::host_to_device:
      return "Memcpy HtoD";
    case CopyKind::device_to_host:
      return "Memcpy DtoH";
    case CopyKind::device_to_device:
      return "Memcpy DtoD";
    case CopyKind::peer:
      return "Memcpy PtoP";
    case CopyKind::host_to_host:
      return "Memcpy HtoH";
    default:
      return "Memcpy";
  }
}

// ENUM_CUDA_MEM_KIND
std::string_view memory_kind(std::optional<int64_t> kind) {
  switch (kind.value_or(7)) {
    case 0:
      return "pageable";
    case 1:
      return "pinned";
    case 2:
    case 3:
    case 5:
      return "device";
    case 4:
    case 6:
      return "managed";
    default:
      return {};
  }
}

// ENUM_CUPTI_SYNC_TYPE
SyncKind sync_kind(int64_t type) {
  switch (type) {
    case 1:
      return SyncKind::event;
    case 2:
      return SyncKind::stream_wait_event;
    case 3:
      return SyncKind::stream;
    case 4:
      return SyncKind::device;
    default:
      return SyncKind::unknown;
  }
}

std::string_view sync_name(SyncKind kind) {
  switch (kind) {
    case SyncKind::event:
      return "Event Sync";
    case SyncKind::stream_wait_event:
      return "Stream Wait Event";
    case SyncKind::stream:
      return "Stream Sync";
    case SyncKind::device:
      return "Context Sync";
    default:
      return "Sync";
  }
}

}  // namespace

void NsysBuilder::read_kernels() {
  enum : size_t {
    start,
    end,
    device,
    stream,
    correlation,
    pid,
    name,
    short_name,
    gx,
    gy,
    gz,
    bx,
    by,
    bz,
    node,
    graph
  };
  constexpr std::array<std::string_view, 16> kColumns = {
      "start",         "end",       "deviceId",    "streamId", "correlationId", "globalPid",
      "demangledName", "shortName", "gridX",       "gridY",    "gridZ",         "blockX",
      "blockY",        "blockZ",    "graphNodeId", "graphId"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_KERNEL";
  SqliteTable row = database_.rows(kTable, kColumns);
  const auto shape = [&](size_t first) {
    return "[" + std::to_string(row.integer(first).value_or(0)) + ", " +
           std::to_string(row.integer(first + 1).value_or(0)) + ", " +
           std::to_string(row.integer(first + 2).value_or(0)) + "]";
  };
  while (row.next() && !full_) {
    Event event;
    event.kind = EventKind::kernel;
    if (!interval(row, start, end, event)) continue;
    event.track = stream_track(row.integer(pid), row.integer(device).value_or(0),
                               row.integer(stream).value_or(0));
    event.correlation = correlations_.fold(row.integer(correlation).value_or(0), repairs_);
    event.name = string(row.integer(name));
    if (event.name == 0) event.name = string(row.integer(short_name));
    if (row.integer(gx)) text_field(kKeyGrid, trace_.strings.intern(shape(gx)));
    if (row.integer(bx)) text_field(kKeyBlock, trace_.strings.intern(shape(bx)));
    if (row.integer(node).value_or(0) != 0) integer_field(kKeyGraphNode, row.integer(node));
    if (row.integer(graph).value_or(0) != 0) integer_field(kKeyGraph, row.integer(graph));
    add(event);
  }
  ended(row, kTable);
}

void NsysBuilder::read_copies() {
  enum : size_t { start, end, device, stream, correlation, pid, bytes, kind, source, target, node };
  constexpr std::array<std::string_view, 11> kColumns = {
      "start", "end",      "deviceId", "streamId", "correlationId", "globalPid",
      "bytes", "copyKind", "srcKind",  "dstKind",  "graphNodeId"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_MEMCPY";
  SqliteTable row = database_.rows(kTable, kColumns);
  while (row.next() && !full_) {
    Event event;
    event.kind = EventKind::memcpy;
    if (!interval(row, start, end, event)) continue;
    const CopyKind copy = copy_kind(row.integer(kind).value_or(0));
    event.detail = static_cast<uint8_t>(copy);
    event.track = stream_track(row.integer(pid), row.integer(device).value_or(0),
                               row.integer(stream).value_or(0));
    event.correlation = correlations_.fold(row.integer(correlation).value_or(0), repairs_);
    event.name = trace_.strings.intern(copy_name(copy));
    integer_field(kKeyBytes, row.integer(bytes));
    text_field(kKeySourceMemory, trace_.strings.intern(memory_kind(row.integer(source))));
    text_field(kKeyTargetMemory, trace_.strings.intern(memory_kind(row.integer(target))));
    if (row.integer(node).value_or(0) != 0) integer_field(kKeyGraphNode, row.integer(node));
    add(event);
  }
  ended(row, kTable);
}

void NsysBuilder::read_memsets() {
  enum : size_t { start, end, device, stream, correlation, pid, bytes };
  constexpr std::array<std::string_view, 7> kColumns = {
      "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_MEMSET";
  SqliteTable row = database_.rows(kTable, kColumns);
  while (row.next() && !full_) {
    Event event;
    event.kind = EventKind::memset;
    if (!interval(row, start, end, event)) continue;
    event.track = stream_track(row.integer(pid), row.integer(device).value_or(0),
                               row.integer(stream).value_or(0));
    event.correlation = correlations_.fold(row.integer(correlation).value_or(0), repairs_);
    event.name = trace_.strings.intern("Memset");
    integer_field(kKeyBytes, row.integer(bytes));
    add(event);
  }
  ended(row, kTable);
}

void NsysBuilder::read_graphs() {
  enum : size_t { start, end, device, stream, correlation, pid, graph };
  constexpr std::array<std::string_view, 7> kColumns = {
      "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
  SqliteTable row = database_.rows(kTable, kColumns);
  while (row.next() && !full_) {
    Event event;
    event.kind = EventKind::graph_launch;
    if (!interval(row, start, end, event)) continue;
    event.track = stream_track(row.integer(pid), row.integer(device).value_or(0),
                               row.integer(stream).value_or(0));
    event.correlation = correlations_.fold(row.integer(correlation).value_or(0), repairs_);
    event.name =
        trace_.strings.intern("CUDA graph " + std::to_string(row.integer(graph).value_or(0)));
    integer_field(kKeyGraph, row.integer(graph));
    add(event);
  }
  ended(row, kTable);
}

void NsysBuilder::read_event_records() {
  enum : size_t { time, device, stream, correlation, pid, handle, sync };
  constexpr std::array<std::string_view, 7> kColumns = {
      "timestamp", "deviceId", "streamId", "correlationId", "globalPid", "eventId", "eventSyncId"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
  SqliteTable row = database_.rows(kTable, kColumns);
  while (row.next() && !full_) {
    if (row.integer(sync) && row.integer(correlation))
      record_of_sync_[*row.integer(sync)] = *row.integer(correlation);
    if (row.integer(time).value_or(0) == 0) continue;  // 0: the time was not collected
    Event event;
    event.kind = EventKind::event_record;
    if (!interval(row, time, time, event)) continue;
    event.track = stream_track(row.integer(pid), row.integer(device).value_or(0),
                               row.integer(stream).value_or(0));
    event.correlation = correlations_.fold(row.integer(correlation).value_or(0), repairs_);
    event.name = trace_.strings.intern("cuda event record");
    integer_field(kKeyEvent, row.integer(handle));
    integer_field(kKeyStream, row.integer(stream));
    add(event);
  }
  ended(row, kTable);
}

void NsysBuilder::read_syncs() {
  enum : size_t { start, end, device, stream, correlation, pid, type, handle, sync };
  constexpr std::array<std::string_view, 9> kColumns = {"start",    "end",           "deviceId",
                                                        "streamId", "correlationId", "globalPid",
                                                        "syncType", "eventId",       "eventSyncId"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
  SqliteTable row = database_.rows(kTable, kColumns);
  while (row.next() && !full_) {
    Event event;
    if (!interval(row, start, end, event)) continue;
    const SyncKind kind = sync_kind(row.integer(type).value_or(0));
    event.kind = kind == SyncKind::stream_wait_event ? EventKind::stream_wait : EventKind::sync;
    event.detail = static_cast<uint8_t>(kind);
    const int64_t on = row.integer(stream).value_or(-1);
    event.track = stream_track(row.integer(pid), row.integer(device).value_or(0), on);
    event.correlation = correlations_.fold(row.integer(correlation).value_or(0), repairs_);
    event.name = trace_.strings.intern(sync_name(kind));
    integer_field(kKeyStream, on);
    if (kind == SyncKind::event || kind == SyncKind::stream_wait_event) {
      integer_field(kKeyEvent, row.integer(handle));
      const auto record = record_of_sync_.find(row.integer(sync).value_or(-1));
      if (record != record_of_sync_.end()) integer_field(kKeyEventRecord, record->second);
    }
    add(event);
  }
  ended(row, kTable);
}

void NsysBuilder::read_memory() {
  enum : size_t { start, tid, pid, device, address, bytes, operation };
  constexpr std::array<std::string_view, 7> kColumns = {
      "start", "globalTid", "globalPid", "deviceId", "address", "bytes", "memoryOperationType"};
  constexpr std::string_view kTable = "CUDA_GPU_MEMORY_USAGE_EVENTS";
  SqliteTable row = database_.rows(kTable, kColumns);
  while (row.next() && !full_) {
    Event event;
    event.kind = EventKind::alloc;
    if (!interval(row, start, start, event)) continue;
    // ENUM_CUDA_DEV_MEM_EVENT_OPER: 0 allocation, 1 deallocation
    const bool release = row.integer(operation).value_or(0) == 1;
    event.detail = static_cast<uint8_t>(release ? AllocKind::release : AllocKind::allocate);
    event.track = thread_track(row.integer(tid) ? row.integer(tid) : row.integer(pid));
    event.name = trace_.strings.intern("[memory]");
    integer_field(kKeyBytes, row.integer(bytes));
    integer_field(kKeyDevice, row.integer(device));
    integer_field(kKeyAddress, row.integer(address));
    add(event);
  }
  ended(row, kTable);
}

}  // namespace stallscope
