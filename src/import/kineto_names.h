// What the names in a Kineto or XLA trace say: categories, copies, Python
// functions, collectives' element types.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/trace.h"

namespace stallscope {

/// What an event of a Chrome trace is, by its category.
enum class Role : uint8_t {
  unknown,  ///< no category, or none of a profiler's: told by its process and thread
  kernel,
  memcpy,
  memset,
  runtime,
  sync,
  event_record,
  op,
  python,
  annotation,
  device_annotation,  ///< an annotation's shadow on a stream
  overhead,
  launch_flow,  ///< links a call with its device work
  mtia_queue,   ///< what an MTIA's queues did: told by its name, see role_in_queue
  ignored,      ///< the profiler's own frame around everything
};

/// The role of a category in any of its spellings (PyTorch 1.8: "Operator", "Runtime", "Kernel").
Role role_of(std::string_view category);

/// The role of an event of an MTIA's queues: a kernel, a transfer, or nothing that occupies it.
Role role_in_queue(std::string_view name);

/// "Memcpy DtoH (Device -> Pageable)", "MemcpyH2D", "CopyDeviceToHost", ...
struct CopyName {
  CopyKind kind = CopyKind::unknown;
  std::string_view source, target;  ///< "pageable", "pinned", "device", "managed"; "" = unknown
};
CopyName parse_copy_name(std::string_view name);

/// "kind_src:pinned kind_dst:device size:16 dest:0 async:1" of the XLA profiler.
struct CopyDetails {
  std::string_view source, target;
  std::optional<int64_t> bytes;
};
CopyDetails parse_copy_details(std::string_view details);

/// "dir/file.py(12): function" or "$file.py:12 function" as a frame's parts.
/// A built-in has no file. nullopt when the name has neither form.
struct PythonName {
  std::string_view file, function;
  uint32_t line = 0;
};
std::optional<PythonName> parse_python_name(std::string_view name);

/// Bytes of one element of a PyTorch or NCCL type name; 0 = unknown.
int64_t element_bytes(std::string_view type);

/// The rank that a file name states: "rank3", "rank_3", "rank-3.json"; -1 = none.
int32_t rank_in_name(std::string_view path);

}  // namespace stallscope
