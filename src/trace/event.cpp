#include "trace/event.h"

#include "trace/sample_state.h"

#include <array>
#include <iterator>

namespace stallscope {
namespace {

constexpr std::array<std::string_view, kEventKinds> kKindNames = {
    "range",        "api",         "kernel",       "memcpy",     "memset",      "sync",
    "event-record", "stream-wait", "graph-launch", "collective", "thread-wait", "overhead",
    "sample",       "alloc",       "counter",      "marker"};

constexpr std::string_view kApiNames[] = {
    "other",       "launch",      "graph-launch", "copy",         "copy-blocking", "memset",
    "stream-sync", "device-sync", "event-sync",   "event-record", "stream-wait",   "query",
    "alloc",       "free",        "host-alloc",   "module-load",  "collective"};
constexpr std::string_view kCopyNames[] = {"unknown",          "host-to-device", "device-to-host",
                                           "device-to-device", "peer",           "host-to-host"};
constexpr std::string_view kSyncNames[] = {"unknown", "event", "stream-wait-event", "stream",
                                           "device"};
constexpr std::string_view kAllocNames[] = {"allocate", "release"};
constexpr std::string_view kRangeNames[] = {"annotation", "op", "python"};
constexpr std::string_view kCollectiveNames[] = {
    "unknown", "all-reduce", "reduce-scatter", "all-gather", "broadcast",
    "reduce",  "all-to-all", "gather",         "scatter",    "barrier",
    "send",    "receive",    "send-receive",   "wait"};

constexpr std::string_view kKeyNames[] = {
    "",           "args",        "domain",       "category",     "bytes",    "elements",
    "dtype",      "device",      "stream",       "context",      "event",    "eventRecord",
    "graph",      "graphNode",   "sourceMemory", "targetMemory", "group",    "sequence",
    "worldSize",  "peer",        "async",        "algorithm",    "protocol", "channels",
    "externalId", "sequenceNr",  "address",      "totalBytes",   "value",    "result",
    "wakerTid",   "shapes",      "grid",         "block",        "reason",   "modelled",
    "collective", "outElements", "waitStream",   "forwardThread"};
static_assert(std::size(kKeyNames) == kKeyCount_);

template <size_t N>
std::string_view at(const std::string_view (&names)[N], uint8_t index) {
  return index < N ? names[index] : std::string_view{};
}

}  // namespace

std::string_view to_string(EventKind kind) {
  const auto index = static_cast<size_t>(kind);
  return index < kKindNames.size() ? kKindNames[index] : std::string_view{};
}
std::string_view to_string(ApiCall call) {
  return at(kApiNames, static_cast<uint8_t>(call));
}
std::string_view to_string(CopyKind kind) {
  return at(kCopyNames, static_cast<uint8_t>(kind));
}
std::string_view to_string(SyncKind kind) {
  return at(kSyncNames, static_cast<uint8_t>(kind));
}
std::string_view to_string(RangeKind kind) {
  return at(kRangeNames, static_cast<uint8_t>(kind));
}
std::string_view to_string(CollectiveOp op) {
  return at(kCollectiveNames, static_cast<uint8_t>(op));
}

std::string_view detail_name(EventKind kind, uint8_t detail) {
  switch (kind) {
    case EventKind::api:
      return at(kApiNames, detail);
    case EventKind::memcpy:
      return at(kCopyNames, detail);
    case EventKind::sync:
      return at(kSyncNames, detail);
    case EventKind::alloc:
      return at(kAllocNames, detail);
    case EventKind::range:
      return at(kRangeNames, detail);
    case EventKind::collective:
      return at(kCollectiveNames, detail);
    case EventKind::sample:
      return at(kSampleStateNames, detail);
    default:
      return {};
  }
}

std::string_view key_name(uint32_t key) {
  return key < kKeyCount_ ? kKeyNames[key] : std::string_view{};
}

}  // namespace stallscope
