// Names of runtime functions, kernels and collectives, mapped to what they are.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "base/text.h"
#include "trace/trace.h"

namespace stallscope {
namespace {

// "cudaMemcpyAsync_ptsz_v7000" -> "memcpyasync"
std::string bare_function(std::string_view function) {
  std::string name =
      lower(function.substr(std::min(function.find_first_not_of('_'), function.size())));
  for (std::string_view prefix : {"cuda", "hip", "cu"}) {
    if (name.starts_with(prefix)) {
      name.erase(0, prefix.size());
      break;
    }
  }
  if (const size_t suffix = name.find('_'); suffix != std::string::npos) name.erase(suffix);
  return name;
}

using Entry = std::pair<std::string_view, ApiCall>;

// Whole names first, then prefixes, so that "memcpyasync" is not taken for "memcpy".
constexpr Entry kExact[] = {
    {"launchkernel", ApiCall::launch},
    {"launchkernelex", ApiCall::launch},
    {"launchkernelexc", ApiCall::launch},
    {"launchcooperativekernel", ApiCall::launch},
    {"extlaunchkernel", ApiCall::launch},
    {"modulelaunchkernel", ApiCall::launch},
    {"extmodulelaunchkernel", ApiCall::launch},
    {"launch", ApiCall::launch},
    {"graphlaunch", ApiCall::graph_launch},
    {"streamsynchronize", ApiCall::stream_sync},
    {"devicesynchronize", ApiCall::device_sync},
    {"threadsynchronize", ApiCall::device_sync},
    {"ctxsynchronize", ApiCall::device_sync},
    {"eventsynchronize", ApiCall::event_sync},
    {"eventrecord", ApiCall::event_record},
    {"eventrecordwithflags", ApiCall::event_record},
    {"streamwaitevent", ApiCall::stream_wait},
    {"streamquery", ApiCall::query},
    {"eventquery", ApiCall::query},
    {"hostalloc", ApiCall::host_alloc},
    {"hostmalloc", ApiCall::host_alloc},
    {"mallochost", ApiCall::host_alloc},
    {"memhostalloc", ApiCall::host_alloc},
    {"memallochost", ApiCall::host_alloc},
    {"hostregister", ApiCall::host_alloc},
    {"memhostregister", ApiCall::host_alloc},
    {"malloc", ApiCall::alloc},
    {"mallocpitch", ApiCall::alloc},
    {"mallocarray", ApiCall::alloc},
    {"malloc3d", ApiCall::alloc},
    {"mallocmanaged", ApiCall::alloc},
    {"mallocasync", ApiCall::alloc},
    {"memalloc", ApiCall::alloc},
    {"memallocpitch", ApiCall::alloc},
    {"memallocmanaged", ApiCall::alloc},
    {"memallocasync", ApiCall::alloc},
    {"memcreate", ApiCall::alloc},
    {"free", ApiCall::free},
    {"freearray", ApiCall::free},
    {"freehost", ApiCall::free},
    {"freeasync", ApiCall::free},
    {"memfree", ApiCall::free},
    {"memfreehost", ApiCall::free},
    {"memfreeasync", ApiCall::free},
    {"moduleload", ApiCall::module_load},
    {"moduleloaddata", ApiCall::module_load},
    {"moduleloaddataex", ApiCall::module_load},
    {"moduleloadfatbinary", ApiCall::module_load},
    {"libraryloaddata", ApiCall::module_load},
};

constexpr std::pair<std::string_view, CollectiveOp> kCollectives[] = {
    {"reducescatter", CollectiveOp::reduce_scatter},
    {"reduce_scatter", CollectiveOp::reduce_scatter},
    {"allreduce", CollectiveOp::all_reduce},
    {"all_reduce", CollectiveOp::all_reduce},
    {"allgather", CollectiveOp::all_gather},
    {"all_gather", CollectiveOp::all_gather},
    {"alltoall", CollectiveOp::all_to_all},
    {"all_to_all", CollectiveOp::all_to_all},
    {"all2all", CollectiveOp::all_to_all},
    {"broadcast", CollectiveOp::broadcast},
    {"bcast", CollectiveOp::broadcast},
    {"sendrecv", CollectiveOp::send_receive},
    {"barrier", CollectiveOp::barrier},
    {"reduce", CollectiveOp::reduce},
    {"gather", CollectiveOp::gather},
    {"scatter", CollectiveOp::scatter},
    {"recv", CollectiveOp::receive},
    {"send", CollectiveOp::send},
    {"wait", CollectiveOp::wait},
};

}  // namespace

std::string_view function_in_source(std::string_view function) {
  if (!function.starts_with("cu") && !function.starts_with("__cu")) return function;
  for (;;) {
    const size_t at = function.rfind('_');
    if (at == std::string_view::npos || at == 0) return function;
    const std::string_view suffix = function.substr(at + 1);
    const bool version = suffix.size() > 1 && suffix[0] == 'v' &&
                         suffix.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (!version && suffix != "ptsz" && suffix != "ptds") return function;
    function = function.substr(0, at);
  }
}

ApiCall classify_api(std::string_view function) {
  const std::string name = bare_function(function);
  for (const auto& [known, call] : kExact)
    if (name == known) return call;
  if (name.starts_with("memcpy")) {
    return name.find("async") != std::string::npos ? ApiCall::copy : ApiCall::copy_blocking;
  }
  if (name.starts_with("memset")) return ApiCall::memset;
  return ApiCall::other;
}

CopyKind classify_copy(std::string_view text) {
  const std::string name = lower(text);
  const auto has = [&name](std::string_view part) { return name.find(part) != std::string::npos; };
  if (has("htod") || has("hosttodevice") || has("host-to-device")) return CopyKind::host_to_device;
  if (has("dtoh") || has("devicetohost") || has("device-to-host")) return CopyKind::device_to_host;
  if (has("dtod") || has("devicetodevice") || has("device-to-device"))
    return CopyKind::device_to_device;
  if (has("ptop") || has("peer")) return CopyKind::peer;
  if (has("htoh") || has("hosttohost")) return CopyKind::host_to_host;
  return CopyKind::unknown;
}

CollectiveOp classify_collective(std::string_view name) {
  const std::string text = lower(name);
  for (const auto& [known, op] : kCollectives)
    if (text.find(known) != std::string::npos) return op;
  return CollectiveOp::unknown;
}

bool is_collective_kernel(std::string_view kernel_name) {
  const std::string name = lower(kernel_name);
  return name.find("nccl") != std::string::npos || name.find("rccl") != std::string::npos;
}

}  // namespace stallscope
