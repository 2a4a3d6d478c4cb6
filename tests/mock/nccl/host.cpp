// NCCL as its profiler plugin sees it: looks up one version's table, makes a
// communicator, enqueues an all-reduce and a send, and tears down.
//
//   fake_nccl PLUGIN VERSION
#include <dlfcn.h>

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

template <typename Table, typename Descriptor>
int drive(const Table& table) {
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

  // What a host may also send: kinds this plugin did not ask for, and nothing.
  Descriptor proxy{};
  proxy.type = kProxyOp;
  if (table.start_event(context, &handle, &proxy) != kSuccess || handle != nullptr) return 15;
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
      return drive<ProfilerV1, EventDescriptorV1>(*static_cast<const ProfilerV1*>(table));
    case 2:
      return drive<ProfilerV2, EventDescriptorV2>(*static_cast<const ProfilerV2*>(table));
    case 3:
      return drive<ProfilerV3, EventDescriptorV3>(*static_cast<const ProfilerV3*>(table));
    case 4:
      return drive<ProfilerV4, EventDescriptorV4>(*static_cast<const ProfilerV4*>(table));
    case 5:
      return drive<ProfilerV5, EventDescriptorV5>(*static_cast<const ProfilerV5*>(table));
    default:
      return 4;
  }
}
