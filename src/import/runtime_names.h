// What CUPTI leaves to the reader: the kind of a call by its name, and the
// readable name of a kernel.
#pragma once

#include <unordered_map>

#include "trace/trace.h"

namespace stallscope {

/// Answers are kept by name: a run has millions of calls and few names.
class RuntimeNames {
 public:
  /// The ApiCall of a runtime function, as Event::detail.
  uint8_t call(const Trace& trace, StringId function);
  /// A kernel's name as its author wrote it: demangled, with template arguments.
  StringId kernel(Trace& trace, StringId mangled);

 private:
  std::unordered_map<StringId, uint8_t> calls_;
  std::unordered_map<StringId, StringId> kernels_;
};

}  // namespace stallscope
