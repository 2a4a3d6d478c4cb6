// LaunchTable: from a correlation to the call that launched it, in one process.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace stallscope {

/// Where several calls carry one correlation (an id reused, or a runtime call and the driver call
/// inside it), the earliest counts.
class LaunchTable {
 public:
  /// `rows`: the row ranges of the process's host threads.
  LaunchTable(const Trace& trace, std::span<const std::pair<EventId, EventId>> rows);

  /// The call, or UINT32_MAX.
  EventId find(uint32_t correlation) const;
  bool has_device_calls() const { return has_device_calls_; }

 private:
  // Ids that are dense enough index a vector; else sorted pairs are searched.
  uint32_t lowest_ = 0;
  std::vector<EventId> dense_;
  std::vector<std::pair<uint32_t, EventId>> sorted_;
  bool has_device_calls_ = false;
};

}  // namespace stallscope
