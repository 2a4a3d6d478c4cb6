// Processes that read files with libclang: one that crashes, hangs or grows too
// large costs the types of its file only.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "source/clang/reader.h"

namespace stallscope {

struct ClangOutcome {
  std::vector<std::unique_ptr<ClangTypes>> types;  ///< per request; null = was not read
  std::vector<bool> gave_up;                       ///< per request: tried in vain
  std::string unusable;                            ///< why the library cannot be used at all
  bool late = false;                               ///< the time did not suffice for all
};

/// The processes, of which the first opens the library while this process does something else.
class ClangWorkers {
 public:
  explicit ClangWorkers(std::string library);
  ClangWorkers(ClangWorkers&& other) noexcept;
  ClangWorkers& operator=(ClangWorkers&& other) noexcept;
  ~ClangWorkers();

  /// Of a request that was read, or tried in vain: then there are no types.
  using Each = std::function<void(size_t request, const ClangTypes* types)>;

  /// Reads all `requests` in up to `workers` processes, which are started by this thread, and
  /// tells it `each`. What is not read `within` this time is left; nothing = as long as it takes.
  ClangOutcome read(std::span<const ClangRequest> requests, unsigned workers,
                    std::optional<std::chrono::milliseconds> within, const Each& each) &&;

 private:
  struct First;
  std::string library_;
  std::unique_ptr<First> first_;
};

}  // namespace stallscope
