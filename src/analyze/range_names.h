// What a range is, by its name: step markers, waits for input, communication,
// compilation, collection. The lists are the field's habits, whoever wrote the trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stallscope {

/// Bits of what a name says.
enum RangeNature : uint8_t {
  kInputWait = 1,      ///< waits for or fetches the next batch
  kCommunication = 2,  ///< a collective or message on the host
  kCompile = 4,        ///< compiles or loads code
  kCollection = 8,     ///< Python's garbage collector
  kCheckpoint = 16,    ///< saves state
  kFramework = 32,     ///< a wrapper that names no work of its own: a step marker
};

/// Bits of RangeNature that `name` deserves.
uint8_t range_nature(std::string_view name);

/// The nature of every string of a trace that names a range: index by StringId.
std::vector<uint8_t> range_natures(const Trace& trace);

/// The kind of step marker a name is, without its number: "step", "iteration", "trainstep",
/// "profilerstep"; empty when it marks no step.
std::string step_marker(std::string_view name);

/// "torch/utils.py(12): f" or "a.cpp:12 f" taken apart; line 0 when the name is no such thing.
struct NamedFrame {
  std::string_view file;
  uint32_t line = 0;
  std::string_view function;
};
NamedFrame named_frame(std::string_view name);

}  // namespace stallscope
