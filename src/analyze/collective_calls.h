// Which collectives a communication kernel carries out, by what the library
// said when it enqueued them.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "analyze/rank_context.h"

namespace stallscope {

/// The library describes a collective on the host (group, number, bytes); the device runs it in a
/// kernel that tells none of it, several at once when they were grouped. They belong together by
/// thread, order and operation: the library speaks around the launch, just before or just after it.
/// In a CUDA graph it speaks once, when the kernel is captured: that holds for every replay.
class CollectiveCalls {
 public:
  explicit CollectiveCalls(const RankContext& context);

  /// The host's calls behind a kernel, in their order; empty when nothing is known.
  std::span<const EventId> of(EventId kernel) const;

 private:
  std::unordered_map<EventId, std::vector<EventId>> calls_;
};

}  // namespace stallscope
