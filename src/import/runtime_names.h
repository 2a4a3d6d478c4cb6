// What CUPTI leaves to the reader: the kind of a call by its name, and the
// readable names of calls and kernels.
#pragma once

#include <unordered_map>

#include "trace/trace.h"

namespace stallscope {

/// Answers are kept by name: a run has millions of calls and few names.
class RuntimeNames {
 public:
  struct Call {
    StringId name = 0;   ///< as programs write it, without the version of the interface
    uint8_t detail = 0;  ///< the ApiCall, as Event::detail
  };
  /// What a runtime function that CUPTI names is.
  Call call(Trace& trace, StringId function);
  /// A kernel's name as its author wrote it: demangled, with template arguments.
  StringId kernel(Trace& trace, StringId mangled);

 private:
  std::unordered_map<StringId, Call> calls_;
  std::unordered_map<StringId, StringId> kernels_;
};

}  // namespace stallscope
