// The profiler-plugin interface of NCCL 2.23 to 2.28 (versions 1 to 5), as far
// as this plugin reads it. Layouts follow the public headers
// plugins/profiler/example/nccl/profiler_v{1..5}.h of NCCL (Apache-2.0);
// tests/collect asserts every offset.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

namespace stallscope::nccl {

inline constexpr int kSuccess = 0;  ///< ncclSuccess: all this plugin ever returns

/// Event types, as bits of the activation mask.
enum EventType : uint64_t {
  kGroup = 1 << 0,
  kCollective = 1 << 1,
  kPointToPoint = 1 << 2,
  kProxyOp = 1 << 3,
  kProxyStep = 1 << 4,
  kKernelChannel = 1 << 6,
  kNetworkPlugin = 1 << 7,
};

// Version 1 describes functions, types and algorithms by number, later ones by name.
struct CollectiveV1 {
  const char* name;
  uint64_t comm_hash;
  uint64_t sequence;
  uint8_t function;
  const void* send_buffer;
  void* receive_buffer;
  size_t count;
  int root;
  uint8_t data_type;
  uint32_t reduction;
  size_t traffic_bytes;
  uint8_t max_channels;
  uint8_t warps;
  uint8_t algorithm;
  uint8_t protocol;
  int is_collnet;
  int is_nvls;
};
struct PointToPointV1 {
  const char* name;
  uint64_t comm_hash;
  uint8_t function;
  void* buffer;
  uint8_t data_type;
  size_t count;
  int peer;
};

struct CollectiveV2 {
  const char* name;
  uint64_t comm_hash;
  uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  size_t count;
  int root;
  const char* data_type;
  size_t traffic_bytes;
  uint8_t max_channels;
  uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct PointToPointV2 {
  const char* name;
  uint64_t comm_hash;
  const char* function;
  void* buffer;
  const char* data_type;
  size_t count;
  int peer;
};

struct CollectiveV3 {
  const char* name;
  uint64_t comm_hash;
  uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  size_t count;
  int root;
  const char* data_type;
  uint8_t max_channels;
  uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
using PointToPointV3 = PointToPointV2;

// From version 4 on the communicator is named once, at init.
struct CollectiveV4 {
  uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  size_t count;
  int root;
  const char* data_type;
  uint8_t channels;
  uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct PointToPointV4 {
  const char* function;
  void* buffer;
  const char* data_type;
  size_t count;
  int peer;
  uint8_t channels;
};
using CollectiveV5 = CollectiveV4;      // parentGroup follows; not read
using PointToPointV5 = PointToPointV4;  // parentGroup follows; not read

// What proxy threads do, in every version; kernelCh and netPlugin came with version 3.
struct ProxyOp {
  pid_t pid;  ///< of the process whose collective it is: the parent is a handle of that one
  uint8_t channel;
  int peer;
  int steps;
  int chunk_bytes;
  int is_send;
};
struct ProxyStep {
  int step;
};
struct KernelChannel {
  uint8_t channel;
};

/// What recordEventState receives, for the two events it is read for: up to version 3 that of a
/// proxy operation, from version 4 on that of a proxy step.
struct TransferState {
  size_t bytes;
};

/// What startEvent receives. Up to version 4 the type is one byte, then 8.
template <typename Type, typename Collective, typename PointToPoint>
struct EventDescriptor {
  Type type;
  void* parent;
  int rank;
  union {
    Collective collective;
    PointToPoint point_to_point;
    ProxyOp proxy_op;
    ProxyStep proxy_step;
    KernelChannel kernel_channel;
  };
};
using EventDescriptorV1 = EventDescriptor<uint8_t, CollectiveV1, PointToPointV1>;
using EventDescriptorV2 = EventDescriptor<uint8_t, CollectiveV2, PointToPointV2>;
using EventDescriptorV3 = EventDescriptor<uint8_t, CollectiveV3, PointToPointV3>;
using EventDescriptorV4 = EventDescriptor<uint8_t, CollectiveV4, PointToPointV4>;
using EventDescriptorV5 = EventDescriptor<uint64_t, CollectiveV5, PointToPointV5>;

// The table of functions NCCL looks up under the symbol ncclProfiler_vN.
using InitV1 = int (*)(void** context, int* activation_mask);
using InitV4 = int (*)(void** context, int* activation_mask, const char* comm_name,
                       uint64_t comm_hash, int nodes, int ranks, int rank, void* logger);
using InitV5 = int (*)(void** context, uint64_t comm_id, int* activation_mask,
                       const char* comm_name, int nodes, int ranks, int rank, void* logger);

template <typename Init, typename Descriptor>
struct ProfilerTable {
  const char* name;
  Init init;
  int (*start_event)(void* context, void** handle, Descriptor* descriptor);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};
using ProfilerV1 = ProfilerTable<InitV1, EventDescriptorV1>;
using ProfilerV2 = ProfilerTable<InitV1, EventDescriptorV2>;
using ProfilerV3 = ProfilerTable<InitV1, EventDescriptorV3>;
using ProfilerV4 = ProfilerTable<InitV4, EventDescriptorV4>;
using ProfilerV5 = ProfilerTable<InitV5, EventDescriptorV5>;

}  // namespace stallscope::nccl
