// NCCL's profiler plugin (NCCL_PROFILER_PLUGIN), versions 1 to 5: which
// collective each rank enqueued, when, on which communicator, how large. NCCL
// looks for the newest version it knows, so all are exported.
//
// A collective's interval here is its enqueueing on the host; its device time
// is that of the kernel with the same place in the stream.
#include <string.h>

#include "collect/collective_record.h"
#include "collect/nccl_abi.h"
#include "collect/session.h"

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

// An enqueueing under way. Slots are claimed and given back without a lock;
// when all are taken the event is recorded at once, with no duration.
struct Enqueue {
  int busy;
  CollectiveRecord record;
};
constexpr int kMaxEnqueues = 1024;
Enqueue enqueues[kMaxEnqueues];
unsigned next_enqueue = 0;

Enqueue* claim_enqueue() {
  for (int tries = 0; tries < 16; ++tries) {
    const unsigned index = __atomic_fetch_add(&next_enqueue, 1, __ATOMIC_RELAXED) % kMaxEnqueues;
    int free = 0;
    if (__atomic_compare_exchange_n(&enqueues[index].busy, &free, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
      return &enqueues[index];
  }
  return nullptr;
}

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

template <typename Descriptor>
int start_event(void* context, void** handle, Descriptor* event) {
  if (handle != nullptr) *handle = nullptr;
  if (handle == nullptr || event == nullptr) return kSuccess;
  CollectiveRecord record;
  if (!describe(*event, static_cast<const Communicator*>(context), record)) return kSuccess;
  begin_collective(record);
  Enqueue* enqueue = claim_enqueue();
  if (enqueue == nullptr) {
    end_collective(record);
    return kSuccess;
  }
  enqueue->record = record;
  *handle = enqueue;
  return kSuccess;
}

int stop_event(void* handle) {
  auto* enqueue = static_cast<Enqueue*>(handle);
  if (enqueue == nullptr) return kSuccess;
  end_collective(enqueue->record);
  __atomic_store_n(&enqueue->busy, 0, __ATOMIC_RELEASE);
  return kSuccess;
}

int record_event_state(void*, int, void*) {
  return kSuccess;
}
int finalize(void*) {
  return kSuccess;
}

int init_communicator(void** context, int* activation_mask, uint64_t hash, int ranks) {
  const bool recording = collect::prepare();
  if (activation_mask != nullptr) *activation_mask = recording ? kCollective | kPointToPoint : 0;
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
    stallscope::record_event_state,
    stallscope::finalize};
STALLSCOPE_EXPORT const stallscope::nccl::ProfilerV2 ncclProfiler_v2 = {
    stallscope::kName,
    stallscope::init_v1,
    stallscope::start_event<stallscope::nccl::EventDescriptorV2>,
    stallscope::stop_event,
    stallscope::record_event_state,
    stallscope::finalize};
STALLSCOPE_EXPORT const stallscope::nccl::ProfilerV3 ncclProfiler_v3 = {
    stallscope::kName,
    stallscope::init_v1,
    stallscope::start_event<stallscope::nccl::EventDescriptorV3>,
    stallscope::stop_event,
    stallscope::record_event_state,
    stallscope::finalize};
STALLSCOPE_EXPORT const stallscope::nccl::ProfilerV4 ncclProfiler_v4 = {
    stallscope::kName,
    stallscope::init_v4,
    stallscope::start_event<stallscope::nccl::EventDescriptorV4>,
    stallscope::stop_event,
    stallscope::record_event_state,
    stallscope::finalize};
STALLSCOPE_EXPORT const stallscope::nccl::ProfilerV5 ncclProfiler_v5 = {
    stallscope::kName,
    stallscope::init_v5,
    stallscope::start_event<stallscope::nccl::EventDescriptorV5>,
    stallscope::stop_event,
    stallscope::record_event_state,
    stallscope::finalize};
