// Where the tool's own files are: rules, report assets and the libraries that
// go into the recorded program. Works from the build tree and from a relocated
// installation.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stallscope {

/// Absolute path of the running program; empty when /proc is not mounted.
std::string executable_path();

/// A file or folder of the tool's data, e.g. data_path("rules"). Looked for in
/// $STALLSCOPE_DATA, in ../share/stallscope beside the program's folder, and in
/// the source tree that the program was built from. The error names all three.
Result<std::string> data_path(std::string_view relative);

/// A shared library that belongs to the tool, by file name. Looked for in
/// $STALLSCOPE_LIB, in ../lib/stallscope beside the program's folder, and in
/// the build tree's lib folder.
Result<std::string> library_path(std::string_view file_name);

}  // namespace stallscope
