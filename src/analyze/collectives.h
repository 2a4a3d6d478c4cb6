// One rank's collectives and messages, on the device and on the host.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/observe_parts.h"
#include "analyze/rank_context.h"

namespace stallscope {

struct Collective {
  EventId id = kNoEvent;
  EventId call = kNoEvent;  ///< the host call that launched it, or itself on the host
  uint32_t step = kNoIndex;
  Ns start = 0, end = 0;
  Ns hidden = 0;  ///< with a kernel running beside it
  std::string operation, group;
  std::optional<double> bytes;
  std::optional<int64_t> sequence, async;
  int64_t world_size = 0;  ///< 0 = unknown
  bool on_host = false;
};

/// All of them, by start.
std::vector<Collective> collectives_of(const RankContext& context);

/// What the links carry, over the bytes of a collective: the factors of nccl-tests.
double bus_factor(const std::string& operation, double ranks);

/// collective-size, for a rank with device work.
void observe_collective_sizes(const RankContext& context, SiteTable& sites,
                              const std::vector<Collective>& collectives,
                              Observations& observations);

/// collective-burst.
void observe_bursts(const RankContext& context, SiteTable& sites,
                    const std::vector<Collective>& collectives, Observations& observations);

}  // namespace stallscope
