#include "import/kineto_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

#include "base/text.h"

namespace stallscope {
namespace {

constexpr std::pair<std::string_view, Role> kRoles[] = {
    {"kernel", Role::kernel},
    {"Kernel", Role::kernel},
    {"concurrent_kernel", Role::kernel},
    {"gpu_op", Role::kernel},
    {"xpu_kernel", Role::kernel},
    {"hpu_op", Role::kernel},
    {"mtia_ccp_events", Role::mtia_queue},
    {"gpu_memcpy", Role::memcpy},
    {"Memcpy", Role::memcpy},
    {"gpu_memset", Role::memset},
    {"Memset", Role::memset},
    {"cuda_runtime", Role::runtime},
    {"cuda_driver", Role::runtime},
    {"Runtime", Role::runtime},
    {"hip_runtime", Role::runtime},
    {"hip_driver", Role::runtime},
    {"roctx_runtime", Role::runtime},
    {"xpu_runtime", Role::runtime},
    {"xpu_driver", Role::runtime},
    {"mtia_runtime", Role::runtime},
    {"privateuse1_runtime", Role::runtime},
    {"privateuse1_driver", Role::runtime},
    {"cuda_sync", Role::sync},
    {"hip_sync", Role::sync},
    {"cuda_event", Role::event_record},
    {"hip_event", Role::event_record},
    {"cpu_op", Role::op},
    {"Operator", Role::op},
    {"operator", Role::op},
    {"python_function", Role::python},
    {"Python", Role::python},
    {"user_annotation", Role::annotation},
    {"User", Role::annotation},
    {"gpu_user_annotation", Role::device_annotation},
    {"overhead", Role::overhead},
    {"ac2g", Role::launch_flow},
    {"async_cpu_to_gpu", Role::launch_flow},
    {"async_gpu", Role::launch_flow},
    {"async", Role::launch_flow},
    {"Trace", Role::ignored},
    {"PyTorch Profiler", Role::ignored},
};

// Memory by any of the words profilers use for it.
std::string_view memory_of(std::string_view word) {
  const std::string text = lower(word);
  if (text.find("pageable") != std::string::npos) return "pageable";
  if (text.find("pinned") != std::string::npos) return "pinned";
  if (text.find("device") != std::string::npos || text.find("array") != std::string::npos)
    return "device";
  if (text.find("managed") != std::string::npos || text.find("unified") != std::string::npos)
    return "managed";
  return {};
}

uint32_t leading_number(std::string_view text) {
  uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Role role_of(std::string_view category) {
  for (const auto& [name, role] : kRoles)
    if (name == category) return role;
  // Several categories joined by commas: the first that is known.
  const size_t comma = category.find(',');
  if (comma == std::string_view::npos) return Role::unknown;
  const Role first = role_of(category.substr(0, comma));
  return first != Role::unknown ? first : role_of(category.substr(comma + 1));
}

Role role_in_queue(std::string_view name) {
  if (name == "dma_request") return Role::memcpy;
  return name == "event_record" || name == "event_wait" ? Role::ignored : Role::kernel;
}

CopyName parse_copy_name(std::string_view name) {
  const std::string text = lower(name);
  constexpr std::pair<std::string_view, CopyKind> kDirections[] = {
      {"htod", CopyKind::host_to_device},
      {"h2d", CopyKind::host_to_device},
      {"hosttodevice", CopyKind::host_to_device},
      {"host_to_device", CopyKind::host_to_device},
      {"dtoh", CopyKind::device_to_host},
      {"d2h", CopyKind::device_to_host},
      {"devicetohost", CopyKind::device_to_host},
      {"device_to_host", CopyKind::device_to_host},
      {"ptop", CopyKind::peer},
      {"p2p", CopyKind::peer},
      {"peer", CopyKind::peer},
      {"dtod", CopyKind::device_to_device},
      {"d2d", CopyKind::device_to_device},
      {"devicetodevice", CopyKind::device_to_device},
      {"htoh", CopyKind::host_to_host},
      {"h2h", CopyKind::host_to_host},
  };
  CopyName copy;
  for (const auto& [word, kind] : kDirections) {
    if (text.find(word) == std::string::npos) continue;
    copy.kind = kind;
    break;
  }
  const size_t arrow = name.find("->"), open = name.rfind('(');
  if (arrow != std::string_view::npos && open != std::string_view::npos && open < arrow) {
    copy.source = memory_of(name.substr(open + 1, arrow - open - 1));
    copy.target = memory_of(name.substr(arrow + 2));
  }
  return copy;
}

CopyDetails parse_copy_details(std::string_view details) {
  const auto value = [&](std::string_view key) -> std::string_view {
    const size_t at = details.find(key);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = details.substr(at + key.size());
    return rest.substr(0, rest.find(' '));
  };
  CopyDetails found;
  found.source = memory_of(value("kind_src:"));
  found.target = memory_of(value("kind_dst:"));
  if (found.source.empty() && found.target.empty()) found.source = memory_of(value("kind:"));
  const std::string_view size = value("size:");
  int64_t bytes = 0;
  if (!size.empty() &&
      std::from_chars(size.data(), size.data() + size.size(), bytes).ec == std::errc{})
    found.bytes = bytes;
  return found;
}

std::optional<PythonName> parse_python_name(std::string_view name) {
  if (name.starts_with('$')) {  // XLA's Python tracer: "$file.py:12 function"
    const size_t blank = name.find(' ');
    const size_t colon = name.substr(0, blank).rfind(':');
    if (blank == std::string_view::npos) return PythonName{{}, name.substr(1), 0};
    if (colon == std::string_view::npos) return PythonName{{}, name.substr(blank + 1), 0};
    return PythonName{name.substr(1, colon - 1), name.substr(blank + 1),
                      leading_number(name.substr(colon + 1))};
  }
  const size_t end = name.find("): ");
  const size_t open = end == std::string_view::npos ? end : name.rfind('(', end);
  if (open == std::string_view::npos || open + 1 == end || open == 0) return std::nullopt;
  const std::string_view digits = name.substr(open + 1, end - open - 1);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return PythonName{name.substr(0, open), name.substr(end + 3), leading_number(digits)};
}

int64_t element_bytes(std::string_view type) {
  constexpr std::pair<std::string_view, int64_t> kTypes[] = {
      {"float", 4},
      {"float32", 4},
      {"half", 2},
      {"float16", 2},
      {"bfloat16", 2},
      {"double", 8},
      {"float64", 8},
      {"long", 8},
      {"int64", 8},
      {"int", 4},
      {"int32", 4},
      {"short", 2},
      {"int16", 2},
      {"char", 1},
      {"int8", 1},
      {"byte", 1},
      {"uint8", 1},
      {"bool", 1},
      {"float8_e4m3fn", 1},
      {"float8_e5m2", 1},
      {"uint32", 4},
      {"uint64", 8},
      {"complexfloat", 8},
      {"complexdouble", 16},
      {"complexhalf", 4},
      {"float8_e4m3fnuz", 1},
      {"float8_e5m2fnuz", 1},
  };
  const std::string text = lower(type);
  for (const auto& [name, bytes] : kTypes)
    if (name == text) return bytes;
  return 0;
}

int32_t rank_in_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string name = lower(slash == std::string_view::npos ? path : path.substr(slash + 1));
  for (size_t at = name.find("rank"); at != std::string::npos; at = name.find("rank", at + 1)) {
    size_t digit = at + 4;
    while (digit < name.size() && std::string_view("_-=[.").find(name[digit]) != std::string::npos)
      ++digit;
    if (digit < name.size() && std::isdigit(static_cast<unsigned char>(name[digit])) != 0)
      return static_cast<int32_t>(leading_number(std::string_view(name).substr(digit)) &
                                  0x7fffffff);
  }
  return -1;
}

}  // namespace stallscope
