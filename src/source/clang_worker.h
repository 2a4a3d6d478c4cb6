// Processes that read files with libclang: one that crashes, hangs or grows too
// large costs the types of its file only.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "source/clang_reader.h"

namespace stallscope {

struct ClangOutcome {
  std::vector<std::unique_ptr<ClangTypes>> types;  ///< per request; null = could not be read
  std::string unusable;                            ///< why the library cannot be used at all
};

/// Reads all `requests` in up to `workers` processes, which are started by this thread.
ClangOutcome read_in_workers(const std::string& library, std::span<const ClangRequest> requests,
                             unsigned workers);

}  // namespace stallscope
