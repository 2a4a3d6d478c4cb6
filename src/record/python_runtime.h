// Finds the Python interpreter in another process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "trace/python_layout.h"

namespace stallscope {

struct PythonRuntime {
  const PythonLayout* layout = nullptr;
  uint64_t runtime = 0;  ///< address of _PyRuntime
  std::string version;   ///< "3.11"
};

/// How sure it is that a process runs no Python.
enum class PythonPresence : uint8_t {
  none,  ///< no interpreter is mapped (yet)
  found,
  unreadable  ///< Python, but of a kind whose stacks cannot be read; see the reason
};

struct PythonSearch {
  PythonPresence presence = PythonPresence::none;
  PythonRuntime runtime;
  std::string reason;  ///< one sentence, for unreadable
};

/// Looks at the process's mappings and the symbols of its interpreter.
PythonSearch find_python(pid_t pid);

}  // namespace stallscope
