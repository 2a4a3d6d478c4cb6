#include "replay/price.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "replay/graph.h"

namespace stallscope {
namespace {

// Enough steps for what one step leaves queued for the next to show; few
// enough that thousands of observations are priced in a moment.
constexpr size_t kReplayedSteps = 8;

constexpr std::pair<std::string_view, ReplayModel> kModels[] = {
    {"host-sync", ReplayModel::remove_sync},
    {"pageable-copy", ReplayModel::remove_sync},
    {"repeated-kernels", ReplayModel::remove_kernels},
    {"allocation", ReplayModel::remove_calls},
    {"compile", ReplayModel::remove_calls},
    {"host-gap", ReplayModel::shrink_host},
    {"input-wait", ReplayModel::prefetch_input},
    {"collective", ReplayModel::overlap_collective},
    {"collective-burst", ReplayModel::coalesce_collectives},
};

// The first run of used steps that is long enough; the longest there is otherwise.
std::pair<size_t, size_t> used_run(const RankSummary& rank) {
  std::pair<size_t, size_t> best{0, 0};
  for (size_t first = 0; first < rank.steps.size();) {
    size_t last = first;
    while (last < rank.steps.size() && rank.steps[last].use == StepUse::used) ++last;
    if (last - first > best.second) best = {first, std::min(last - first, kReplayedSteps)};
    if (best.second == kReplayedSteps) break;
    first = last + 1;
  }
  return best;
}

}  // namespace

ReplayModel model_of(std::string_view observation_kind) {
  for (const auto& [kind, model] : kModels)
    if (kind == observation_kind) return model;
  return ReplayModel::none;
}

void price_by_replay(const Trace& trace, RankSummary& rank) {
  const auto [first, count] = used_run(rank);
  const StepGraph graph = build_graph(trace, rank, first, count);
  if (graph.steps == 0) return;
  const Ns as_measured = measured(graph);
  const Ns unchanged = replay(graph, ReplayModel::none, {});
  if (as_measured <= 0 || unchanged <= 0) return;
  rank.replay_error =
      std::fabs(static_cast<double>(unchanged - as_measured)) / static_cast<double>(as_measured);

  for (Observation& observation : rank.observations) {
    const ReplayModel model = model_of(observation.kind);
    const bool inside = std::ranges::any_of(
        observation.events, [&](EventId event) { return graph.node_of.contains(event); });
    if (model == ReplayModel::none || !inside) continue;
    const Ns saved = unchanged - replay(graph, model, observation.events);
    observation.numbers["replay_saved_ns"] = static_cast<double>(std::max<Ns>(0, saved));
  }
}

}  // namespace stallscope
