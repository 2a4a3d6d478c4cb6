// NCCL as its profiler plugin sees it: looks up one version's table, makes a
// communicator, enqueues an all-reduce and a send, has proxy threads carry the
// first where the plugin wants to know, and tears down.
//
//   fake_nccl PLUGIN VERSION
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

#include "collect/nccl_abi.h"

using namespace stallscope::nccl;

namespace {

constexpr uint64_t kHash = 0xfeedbeef12345678;

void set_text_or_number(const char*& field, const char* text, uint8_t) {
  field = text;
}
void set_text_or_number(uint8_t& field, const char*, uint8_t number) {
  field = number;
}

template <typename Call>
void name_communicator(Call& call) {
  if constexpr (requires { call.comm_hash; }) call.comm_hash = kHash;
}

constexpr int kChannel = 3, kPeer = 0, kStepBytes = 512;

template <typename Descriptor>
Descriptor proxy_op(void* parent, pid_t pid) {
  Descriptor event{};
  event.type = kProxyOp;
  event.parent = parent;
  event.rank = 1;
  event.proxy_op = {pid, kChannel, kPeer, 2, kStepBytes, 1};
  return event;
}

// The proxy threads carry the collective after its enqueueing has ended: one operation of two steps
// on one channel, with what a network plugin tells of the first, and the kernel on that channel.
template <typename Table, typename Descriptor>
int drive_proxies(const Table& table, void* context, void* collective, bool tells_by_step) {
  void *op = nullptr, *kernel = nullptr, *stranger = nullptr;
  Descriptor event = proxy_op<Descriptor>(collective, getpid());
  if (table.start_event(context, &op, &event) != kSuccess || op == nullptr) return 20;
  Descriptor channel{};
  channel.type = kKernelChannel;
  channel.parent = collective;
  channel.kernel_channel = {kChannel};
  if (table.start_event(context, &kernel, &channel) != kSuccess || kernel == nullptr) return 21;
  for (int step = 0; step < 2; ++step) {
    void *handle = nullptr, *network = nullptr;
    Descriptor part{};
    part.type = kProxyStep;
    part.parent = op;
    part.proxy_step = {step};
    if (table.start_event(context, &handle, &part) != kSuccess || handle == nullptr) return 22;
    part.type = kNetworkPlugin;
    part.parent = handle;
    if (step == 0 && table.start_event(context, &network, &part) != kSuccess) return 23;
    TransferState moved{kStepBytes};
    if (tells_by_step) table.record_event_state(handle, 9, &moved);
    moved.bytes = static_cast<size_t>(step + 1) * kStepBytes;
    if (!tells_by_step) table.record_event_state(op, 2, &moved);
    table.stop_event(network);
    table.stop_event(handle);
  }
  table.stop_event(kernel);
  table.stop_event(op);
  table.stop_event(op);  // its handle is nobody's any longer
  // For a process beside this one: its parent's handle says nothing here.
  event = proxy_op<Descriptor>(collective, getpid() + 1);
  event.proxy_op.peer = 7;
  if (table.start_event(context, &stranger, &event) != kSuccess) return 24;
  table.stop_event(stranger);
  return 0;
}

// When thousands came in between, a proxy operation that is late is not taken for one of theirs.
template <typename Table, typename Descriptor>
int drive_late(const Table& table, void* context, void* collective) {
  void* handle = nullptr;
  for (int i = 0; i < 5000; ++i) {
    Descriptor other{};
    other.type = kKernelChannel;
    if (table.start_event(context, &handle, &other) != kSuccess) return 30;
    table.stop_event(handle);
  }
  Descriptor event = proxy_op<Descriptor>(collective, getpid());
  event.proxy_op.is_send = 0;
  if (table.start_event(context, &handle, &event) != kSuccess) return 31;
  table.stop_event(handle);
  return 0;
}

template <typename Table, typename Descriptor>
int drive(const Table& table, int version) {
  void* context = nullptr;
  int mask = 0, result = 0;
  if constexpr (std::is_same_v<decltype(table.init), InitV1>)
    result = table.init(&context, &mask);
  else if constexpr (std::is_same_v<decltype(table.init), InitV4>)
    result = table.init(&context, &mask, "world", kHash, 1, 2, 1, nullptr);
  else
    result = table.init(&context, kHash, &mask, "world", 1, 2, 1, nullptr);
  if (result != kSuccess || (mask & kCollective) == 0) return 10;

  Descriptor event{};
  event.type = kCollective;
  event.rank = 1;
  event.collective.sequence = 42;
  set_text_or_number(event.collective.function, "AllReduce", 4);
  event.collective.count = 1000;
  set_text_or_number(event.collective.data_type, "ncclFloat32", 7);
  set_text_or_number(event.collective.algorithm, "RING", 1);
  set_text_or_number(event.collective.protocol, "LL", 0);
  name_communicator(event.collective);
  void* handle = nullptr;
  if (table.start_event(context, &handle, &event) != kSuccess || handle == nullptr) return 11;
  if (table.record_event_state(handle, 0, nullptr) != kSuccess) return 12;
  if (table.stop_event(handle) != kSuccess) return 13;
  void* const collective = handle;

  Descriptor message{};
  message.type = kPointToPoint;
  message.rank = 1;
  set_text_or_number(message.point_to_point.function, "Send", 6);
  message.point_to_point.count = 8;
  set_text_or_number(message.point_to_point.data_type, "ncclInt64", 4);
  message.point_to_point.peer = 0;
  name_communicator(message.point_to_point);
  if (table.start_event(context, &handle, &message) != kSuccess) return 14;
  table.stop_event(handle);

  if ((mask & kProxyStep) != 0)
    result = drive_proxies<Table, Descriptor>(table, context, collective, version >= 4);
  if (result == 0 && (mask & kProxyStep) != 0)
    result = drive_late<Table, Descriptor>(table, context, collective);
  if (result != 0) return result;

  // What a host may also send: kinds this plugin did not ask for, and nothing.
  Descriptor group{};
  group.type = kGroup;
  if (table.start_event(context, &handle, &group) != kSuccess || handle != nullptr) return 15;
  if (table.stop_event(nullptr) != kSuccess) return 16;
  return table.finalize(context);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* plugin = dlopen(argv[1], RTLD_NOW);
  const void* table = plugin == nullptr
                          ? nullptr
                          : dlsym(plugin, (std::string("ncclProfiler_v") + argv[2]).c_str());
  if (table == nullptr) return 3;
  switch (atoi(argv[2])) {
    case 1:
      return drive<ProfilerV1, EventDescriptorV1>(*static_cast<const ProfilerV1*>(table), 1);
    case 2:
      return drive<ProfilerV2, EventDescriptorV2>(*static_cast<const ProfilerV2*>(table), 2);
    case 3:
      return drive<ProfilerV3, EventDescriptorV3>(*static_cast<const ProfilerV3*>(table), 3);
    case 4:
      return drive<ProfilerV4, EventDescriptorV4>(*static_cast<const ProfilerV4*>(table), 4);
    case 5:
      return drive<ProfilerV5, EventDescriptorV5>(*static_cast<const ProfilerV5*>(table), 5);
    default:
      return 4;
  }
}
