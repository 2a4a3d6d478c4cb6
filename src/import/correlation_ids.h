// Correlation ids of 64 bits, as files write them, in the Trace's 32.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "import/json_repair.h"

namespace stallscope {

class CorrelationIds {
 public:
  /// The id itself where it fits, else a number of its own far above what a
  /// run of 2^31 calls reaches; 0 for none (not positive, or CUPTI's "invalid").
  uint32_t fold(int64_t value, Repairs& repairs) {
    if (value <= 0 || value == kInvalid) return 0;
    if (value < kFirstFolded) return static_cast<uint32_t>(value);
    const auto next = kFirstFolded + static_cast<uint32_t>(folded_.size());
    const auto [it, added] = folded_.try_emplace(value, next);
    if (added) ++repairs["correlation beyond 32 bits renumbered"];
    return it->second;
  }

 private:
  static constexpr int64_t kInvalid = 0xFFFFFFFF;
  static constexpr uint32_t kFirstFolded = 0xE0000000;
  std::unordered_map<int64_t, uint32_t> folded_;
};

}  // namespace stallscope
