// The Python interpreters on PATH.
#pragma once

#include <string>
#include <vector>

namespace stallscope {

struct PythonInstallation {
  std::string path;
  std::string version;     ///< "3.11", from the file's name or its library's
  bool supported = false;  ///< its stacks can be read: CPython 3.8 to 3.14
};

/// Each once, found by name (python3, python3.11, ...); wrappers that are
/// scripts are left out. Starts no program.
std::vector<PythonInstallation> python_installations();

}  // namespace stallscope
