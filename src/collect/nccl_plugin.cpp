// NCCL's profiler plugin (NCCL_PROFILER_PLUGIN), versions 1 to 5: which
// collective each rank enqueued, when, on which communicator, how large. NCCL
// looks for the newest version it knows, so all are exported.
//
// A collective's interval here is its enqueueing on the host; its device time
// is that of the kernel with the same place in the stream. What its proxy threads
// do for it carries the collective's group and number.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/nccl_abi.h"
#include "collect/nccl_proxy.h"
#include "collect/session.h"
#include "collect/settings.h"

namespace stallscope {
namespace {

using namespace nccl;

// NCCL's own numbering (ncclFunc_t, ncclDataType_t, NCCL_ALGO_*, NCCL_PROTO_*),
// which only version 1 hands over as numbers.
constexpr const char* kFunctions[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                      "AllReduce", "SendRecv", "Send",      "Recv"};
constexpr const char* kDataTypes[] = {"ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",
                                      "ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
                                      "ncclFloat64", "ncclBfloat16"};
constexpr const char* kAlgorithms[] = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr const char* kProtocols[] = {"LL", "LL128", "SIMPLE"};

template <size_t N>
const char* name_of(const char* const (&names)[N], uint8_t index) {
  return index < N ? names[index] : nullptr;
}
template <size_t N>
const char* name_of(const char* const (&)[N], const char* name) {
  return name;
}

// Bytes of one element of a type named as NCCL names it; 0 = unknown.
size_t element_bytes(const char* data_type) {
  if (data_type == nullptr) return 0;
  struct Width {
    const char* tail;
    size_t bytes;
  };
  constexpr Width kWidths[] = {{"8e4m3", 1}, {"8e5m2", 1}, {"16", 2},
                               {"32", 4},    {"64", 8},    {"t8", 1}};
  const size_t length = strlen(data_type);
  for (const Width& width : kWidths) {
    const size_t tail = strlen(width.tail);
    if (length >= tail && strcmp(data_type + length - tail, width.tail) == 0) return width.bytes;
  }
  return 0;
}

// What init says about a communicator. NCCL makes few and never frees them
// before exit, so a fixed table is enough; past it, events lack the size.
struct Communicator {
  uint64_t hash;
  int ranks;
};
constexpr int kMaxCommunicators = 256;
Communicator communicators[kMaxCommunicators];
int communicator_count = 0;

template <typename Collective>
uint64_t hash_of(const Collective& collective, const Communicator* communicator) {
  if constexpr (requires { collective.comm_hash; }) return collective.comm_hash;
  return communicator != nullptr ? communicator->hash : 0;
}

template <typename Descriptor>
bool describe(const Descriptor& event, const Communicator* communicator, CollectiveRecord& record) {
  record = {};
  record.rank = event.rank;
  record.ranks = communicator != nullptr ? communicator->ranks : 0;
  record.peer = -1;
  if (event.type == kCollective) {
    const auto& call = event.collective;
    record.function = name_of(kFunctions, call.function);
    record.data_type = name_of(kDataTypes, call.data_type);
    record.algorithm = name_of(kAlgorithms, call.algorithm);
    record.protocol = name_of(kProtocols, call.protocol);
    record.group = hash_of(call, communicator);
    record.sequence = call.sequence;
    record.has_sequence = true;
    record.elements = call.count;
    record.peer = call.root;
    if constexpr (requires { call.channels; })
      record.channels = call.channels;
    else
      record.channels = call.max_channels;
  } else if (event.type == kPointToPoint) {
    const auto& call = event.point_to_point;
    record.function = name_of(kFunctions, call.function);
    record.data_type = name_of(kDataTypes, call.data_type);
    record.group = hash_of(call, communicator);
    record.elements = call.count;
    record.peer = call.peer;
  } else {
    return false;
  }
  record.bytes = record.elements * element_bytes(record.data_type);
  return true;
}

// A proxy thread may work for another process: the parent is a handle of that one then.
template <typename Descriptor>
bool describe_proxy(const Descriptor& event, OpenEvent& open) {
  const bool is_op = event.type == kProxyOp;
  void* const parent = is_op && event.proxy_op.pid != getpid() ? nullptr : event.parent;
  if (!begin_proxy(event.type, parent, open)) return false;
  if (event.type == kKernelChannel) open.channel = event.kernel_channel.channel;
  if (!is_op) return true;
  open.name = event.proxy_op.is_send != 0 ? "NCCL proxy send" : "NCCL proxy receive";
  open.channel = event.proxy_op.channel;
  open.record.peer = event.proxy_op.peer;
  return true;
}

template <typename Descriptor>
int start_event(void* context, void** handle, Descriptor* event) {
  if (handle != nullptr) *handle = nullptr;
  // What comes first starts the session, and with it the clock that its begin is read from.
  if (handle == nullptr || event == nullptr || collect::session() == nullptr) return kSuccess;
  OpenEvent open;
  if (describe_proxy(*event, open)) {
    *handle = open_event(open);
    return kSuccess;
  }
  if (!describe(*event, static_cast<const Communicator*>(context), open.record)) return kSuccess;
  open.type = event->type;
  begin_collective(open.record);
  *handle = open_event(open);
  // With no place for it, it is recorded at once, with no duration.
  if (*handle == nullptr) end_collective(open.record);
  return kSuccess;
}

int stop_event(void* handle) {
  OpenEvent event;
  if (handle == nullptr || !close_event(handle, event)) return kSuccess;
  if (event.type == kCollective || event.type == kPointToPoint)
    end_collective(event.record);
  else
    end_proxy(event);
  return kSuccess;
}

// Up to version 3 a proxy operation tells how much it has moved so far, later each step its part.
template <uint64_t kTells>
int record_event_state(void* handle, int, void* arguments) {
  OpenEvent event;
  if (arguments == nullptr || !find_event(handle, event) || event.type != kTells) return kSuccess;
  const size_t bytes = static_cast<const TransferState*>(arguments)->bytes;
  if (bytes <= event.record.bytes) return kSuccess;
  add_bytes(handle, bytes - event.record.bytes);
  if (kTells == kProxyStep) add_bytes(event.parent, bytes - event.record.bytes);
  return kSuccess;
}
int finalize(void*) {
  return kSuccess;
}

// One proxy operation per channel and peer costs nothing that shows; its steps are many, and
// kernels tell of their channels through memory that they write for it.
int wanted_events() {
  const char* level = getenv(settings::kGpu);
  const bool full = level != nullptr && strcmp(level, "full") == 0;
  return static_cast<int>(kCollective | kPointToPoint | kProxyOp |
                          (full ? kProxyStep | kKernelChannel | kNetworkPlugin : 0));
}

int init_communicator(void** context, int* activation_mask, uint64_t hash, int ranks) {
  const bool recording = collect::prepare();
  if (activation_mask != nullptr) *activation_mask = recording ? wanted_events() : 0;
  if (context == nullptr) return kSuccess;
  *context = nullptr;
  const int index = __atomic_fetch_add(&communicator_count, 1, __ATOMIC_RELAXED);
  if (index >= kMaxCommunicators) return kSuccess;
  communicators[index] = {hash, ranks};
  *context = &communicators[index];
  return kSuccess;
}

int init_v1(void** context, int* activation_mask) {
  return init_communicator(context, activation_mask, 0, 0);
}
int init_v4(void** context, int* activation_mask, const char*, uint64_t comm_hash, int, int ranks,
            int, void*) {
  return init_communicator(context, activation_mask, comm_hash, ranks);
}
int init_v5(void** context, uint64_t comm_id, int* activation_mask, const char*, int, int ranks,
            int, void*) {
  return init_communicator(context, activation_mask, comm_id, ranks);
}

constexpr const char* kName = "stallscope";

}  // namespace
}  // namespace stallscope

#define STALLSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

STALLSCOPE_EXPORT const stallscope::nccl::ProfilerV1 ncclProfiler_v1 = {
    stallscope::kName,
    stallscope::init_v1,
    stallscope::start_event<stallscope::nccl::EventDescriptorV1>,
    stallscope::stop_event,
    stallscope::record_event_state<stallscope::nccl::kProxyOp>,
    stallscope::finalize};
STALLSCOPE_EXPORT const stallscope::nccl::ProfilerV2 ncclProfiler_v2 = {
    stallscope::kName,
    stallscope::init_v1,
    stallscope::start_event<stallscope::nccl::EventDescriptorV2>,
    stallscope::stop_event,
    stallscope::record_event_state<stallscope::nccl::kProxyOp>,
    stallscope::finalize};
STALLSCOPE_EXPORT const stallscope::nccl::ProfilerV3 ncclProfiler_v3 = {
    stallscope::kName,
    stallscope::init_v1,
    stallscope::start_event<stallscope::nccl::EventDescriptorV3>,
    stallscope::stop_event,
    stallscope::record_event_state<stallscope::nccl::kProxyOp>,
    stallscope::finalize};
STALLSCOPE_EXPORT const stallscope::nccl::ProfilerV4 ncclProfiler_v4 = {
    stallscope::kName,
    stallscope::init_v4,
    stallscope::start_event<stallscope::nccl::EventDescriptorV4>,
    stallscope::stop_event,
    stallscope::record_event_state<stallscope::nccl::kProxyStep>,
    stallscope::finalize};
STALLSCOPE_EXPORT const stallscope::nccl::ProfilerV5 ncclProfiler_v5 = {
    stallscope::kName,
    stallscope::init_v5,
    stallscope::start_event<stallscope::nccl::EventDescriptorV5>,
    stallscope::stop_event,
    stallscope::record_event_state<stallscope::nccl::kProxyStep>,
    stallscope::finalize};
