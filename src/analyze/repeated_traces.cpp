#include "analyze/repeated_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace stallscope {
namespace {

// No two processes agree in all of this to the nanosecond.
bool is_same(const RankSummary& a, const RankSummary& b) {
  const auto key = [](const RankSummary& rank) {
    const GpuTotals& gpu = rank.gpu;
    return std::tie(rank.host, rank.rank, rank.pid, rank.device, rank.world_size, rank.view,
                    gpu.window, gpu.busy, gpu.compute, gpu.communication, gpu.kernels);
  };
  const auto time = [](const Step& step) { return std::pair(step.host_start, step.host_end); };
  const bool says_anything = !a.steps.empty() || a.gpu.window > 0;
  return says_anything && key(a) == key(b) && std::ranges::equal(a.steps, b.steps, {}, time, time);
}

}  // namespace

std::string drop_repeated_traces(std::vector<RankSummary>& ranks) {
  std::vector<RankSummary> kept;
  std::string named;
  for (RankSummary& rank : ranks) {
    const bool repeated =
        std::ranges::any_of(kept, [&](const RankSummary& other) { return is_same(rank, other); });
    if (!repeated) {
      kept.push_back(std::move(rank));
    } else if (named.empty()) {
      named =
          rank.rank >= 0 ? fmt::format("rank {}", rank.rank) : fmt::format("process {}", rank.pid);
    }
  }
  const size_t repeated = ranks.size() - kept.size();
  ranks = std::move(kept);
  if (repeated == 0) return {};
  return fmt::format("The inputs hold the same trace more than once ({}{}): each counts once",
                     named, repeated == 1 ? "" : fmt::format(" and {} more", repeated - 1));
}

}  // namespace stallscope
