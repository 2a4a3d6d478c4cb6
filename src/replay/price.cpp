#include "replay/price.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "replay/graph.h"

namespace stallscope {
namespace {

// Enough steps for what one step leaves queued for the next to show; few
// enough that thousands of observations are priced in a moment.
constexpr size_t kReplayedSteps = 8;
// Of steps with very many events fewer do, but never fewer than these: one to
// settle, one to time, one that the timed one may run into.
constexpr size_t kLeastSteps = 3;
constexpr size_t kReplayedEvents = 150'000;

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

// What hiding a collective can save is at most its time with nothing beside it, and what host work
// can, the time that the device idled for it: the call that ends a gap may end a wait as well.
double most_of(const Observation& observation) {
  if (observation.kind == "host-gap" && observation.idle_ns.steps > 0)
    return observation.idle_ns.per_step();
  const auto exposed = observation.numbers.find("exposed_ns");
  const bool bounded = observation.kind == "collective" && exposed != observation.numbers.end();
  return bounded ? exposed->second : std::numeric_limits<double>::infinity();
}

// Rows of blocking calls by the function that makes them. Removing one often gains nothing,
// because the host waits at the next one: what it still costs when the others are gone tells.
using Function = std::pair<std::string_view, std::string_view>;  // file, function
using Functions = std::map<Function, std::vector<size_t>>;

Function function_of(const Observation& observation) {
  return {observation.place.file, observation.place.function};
}

Functions functions_of(const std::vector<Observation>& observations) {
  Functions functions;
  for (size_t i = 0; i < observations.size(); ++i)
    if (model_of(observations[i].kind) == ReplayModel::remove_sync &&
        !observations[i].place.function.empty())
      functions[function_of(observations[i])].push_back(i);
  return functions;
}

// How far the classes of `count` steps from `first` on are from those of the mean step, as a share
// of it.
double unlikeness(const RankSummary& rank, size_t first, size_t count) {
  const ClassTimes& mean = rank.mean_breakdown;
  if (mean.total() <= 0) return 0;
  double off = 0;
  for (size_t c = 0; c < kStepClasses; ++c) {
    double sum = 0;
    for (size_t i = first; i < first + count; ++i)
      sum += static_cast<double>(rank.steps[i].classes.ns[c]);
    off += std::abs(sum / static_cast<double>(count) - static_cast<double>(mean.ns[c]));
  }
  return off / static_cast<double>(mean.total());
}

// The first run of used steps that is long enough and like the mean step; where none is, the one
// most like it of the longest. A loader that runs dry after twenty steps costs nothing in the
// first.
std::pair<size_t, size_t> used_run(const Trace& trace, const RankSummary& rank) {
  constexpr double kAlike = 0.05;
  const size_t events_a_step = trace.size() / std::max<size_t>(1, rank.steps.size()) + 1;
  const size_t wanted = std::clamp(kReplayedEvents / events_a_step, kLeastSteps, kReplayedSteps);
  std::pair<size_t, size_t> best{0, 0};
  double best_off = 0;
  size_t used = 0;  // consecutive ones up to here
  for (size_t i = 0; i < rank.steps.size(); ++i) {
    used = rank.steps[i].use == StepUse::used ? used + 1 : 0;
    const size_t count = std::min(used, wanted);
    if (count == 0 || count < best.second) continue;
    const size_t first = i + 1 - count;
    const double off = unlikeness(rank, first, count);
    if (count > best.second || off < best_off) {
      best = {first, count};
      best_off = off;
    }
    if (best.second == wanted && best_off <= kAlike) break;
  }
  return best;
}

// An observation's events as replay knows them: calls and device work, or
// ranges of the host, whose time is spent before the next call of their thread.
struct PricedEvents {
  std::vector<EventId> nodes;
  std::vector<std::pair<EventId, Ns>> cuts;
};

/// Lane -> call nodes, in order of time.
using CallsOfLanes = std::map<uint32_t, std::vector<uint32_t>>;

CallsOfLanes calls_of_lanes(const StepGraph& graph) {
  CallsOfLanes calls;
  for (uint32_t index = 0; index < graph.nodes.size(); ++index)
    if (graph.nodes[index].kind == GraphNodeKind::call)
      calls[graph.nodes[index].lane].push_back(index);
  return calls;
}

PricedEvents priced_events(const Trace& trace, const StepGraph& graph, const CallsOfLanes& calls,
                           std::span<const EventId> events) {
  PricedEvents priced;
  for (const EventId event : events) {
    if (graph.node_of.contains(event)) {
      priced.nodes.push_back(event);
      continue;
    }
    const auto lane = calls.find(trace.tracks_of_events()[event]);
    if (lane == calls.end() || trace.starts()[event] < graph.nodes.front().start) continue;
    const auto next = std::ranges::lower_bound(
        lane->second, trace.end(event), {}, [&](uint32_t node) { return graph.nodes[node].start; });
    if (next != lane->second.end())
      priced.cuts.emplace_back(graph.nodes[*next].event, trace.durations()[event]);
  }
  return priced;
}

}  // namespace

ReplayModel model_of(std::string_view observation_kind) {
  for (const auto& [kind, model] : kModels)
    if (kind == observation_kind) return model;
  return ReplayModel::none;
}

void price_by_replay(const Trace& trace, RankSummary& rank) {
  const auto [first, count] = used_run(trace, rank);
  const StepGraph graph = build_graph(trace, rank, first, count);
  if (graph.steps == 0) return;
  const Ns as_measured = measured(graph);
  const Ns unchanged = replay(graph, ReplayModel::none, {});
  if (as_measured <= 0 || unchanged <= 0) return;
  // The unchanged graph gives back what was measured, because its lags were
  // measured. How much of that it explains is the error that says something.
  const Ns explained = replay_explained(graph);
  const Ns off = std::max(std::abs(unchanged - as_measured), std::abs(explained - as_measured));
  rank.replay_error = static_cast<double>(off) / static_cast<double>(as_measured);

  const CallsOfLanes calls = calls_of_lanes(graph);
  const auto saves = [&](ReplayModel what_if, std::span<const EventId> nodes) {
    return static_cast<double>(std::max<Ns>(0, unchanged - replay(graph, what_if, nodes)));
  };
  const Functions functions = functions_of(rank.observations);
  // Events of the waits of a function, but for those of one row.
  const auto waits_but = [&](const std::vector<size_t>& rows, size_t left_out) {
    std::vector<EventId> events;
    for (const size_t row : rows)
      if (row != left_out)
        events.insert(events.end(), rank.observations[row].events.begin(),
                      rank.observations[row].events.end());
    return events;
  };
  std::map<Function, double> together;
  for (const auto& [function, rows] : functions)
    if (rows.size() >= 2)
      together[function] =
          saves(ReplayModel::remove_sync, waits_but(rows, rank.observations.size()));
  // Of collectives that follow one another, hiding a single one often gains nothing, because the
  // next is waited for: each gets at least its share of what hiding all of them saves.
  std::vector<EventId> collectives;
  double all_exposed = 0;
  for (const Observation& observation : rank.observations) {
    if (observation.kind != "collective" || !observation.numbers.contains("exposed_ns")) continue;
    all_exposed += observation.numbers.at("exposed_ns");
    collectives.insert(collectives.end(), observation.events.begin(), observation.events.end());
  }
  const double all_hidden =
      all_exposed > 0 ? saves(ReplayModel::overlap_collective, collectives) : 0;
  parallel_for(rank.observations.size(), [&](size_t i) {
    Observation& observation = rank.observations[i];
    const ReplayModel model = model_of(observation.kind);
    if (model == ReplayModel::none) return;
    const PricedEvents events = priced_events(trace, graph, calls, observation.events);
    if (events.nodes.empty() && events.cuts.empty()) return;
    if (model == ReplayModel::remove_sync) {
      if (observation.count.per_step() > 1)
        observation.numbers["replay_batched_ns"] = saves(ReplayModel::batch_calls, events.nodes);
      if (const auto all = together.find(function_of(observation)); all != together.end())
        observation.numbers["replay_together_ns"] = std::max(
            0.0,
            all->second - saves(ReplayModel::remove_sync, waits_but(functions.at(all->first), i)));
    }
    // Where the ranges themselves are known, they say how much of a gap goes.
    const Ns without = events.cuts.empty() ? replay(graph, model, events.nodes)
                                           : replay_shortened(graph, events.cuts);
    double saved = static_cast<double>(std::max<Ns>(0, unchanged - without));
    if (observation.kind == "collective" && all_exposed > 0)
      saved = std::max(saved, all_hidden * observation.numbers["exposed_ns"] / all_exposed);
    observation.numbers["replay_saved_ns"] = std::min(saved, most_of(observation));
  });
}

}  // namespace stallscope
