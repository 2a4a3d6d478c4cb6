// Reads one file with libclang. Runs in a process of its own (clang_worker.h):
// what is read may crash it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "source/clang_api.h"
#include "source/clang_types.h"

namespace stallscope {

/// A file to read, and how.
struct ClangRequest {
  std::string path;  ///< absolute: includes are looked for beside it
  std::string text;  ///< taken instead of what is on disk
  std::vector<std::string> arguments;
  std::vector<std::string> prefix;  ///< headers that are read before it
  std::string precompiled;          ///< where the compiled prefix is kept; empty = it is not
  bool heavy = false;               ///< the prefix takes seconds and hundreds of megabytes
};

/// The types of a file. Errors in the code are none; an error is a file that
/// libclang gave up on.
Result<ClangTypes> read_types(const clang::Api& api, const ClangRequest& request);

}  // namespace stallscope
