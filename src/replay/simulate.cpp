#include "replay/simulate.h"

#include <algorithm>
#include <array>
#include <vector>

namespace stallscope {
namespace {

constexpr std::array<std::string_view, 9> kModelNames = {
    "none",        "remove-sync",        "remove-kernels",       "remove-calls",
    "shrink-host", "overlap-collective", "coalesce-collectives", "prefetch-input",
    "batch-calls"};

// Between two calls of a loop that one call would replace lie a few launches of
// tiny kernels. More than these, and the loop does something else as well.
constexpr uint32_t kMostBetween = 8;

// What a what-if does to single nodes and edges.
struct Change {
  std::vector<Ns> own;               // per node
  std::vector<bool> waits_for_none;  // per node: completion edges into it are gone
  std::vector<bool> gap_shrunk;      // per node: program order into it has the usual gap only
  std::vector<bool> lets_pass;       // per node: nothing on the device waits for it
  std::vector<Ns> cut;               // per node: host work that program order into it loses
  Ns gap = 0;
  bool explained_only = false;
};

Change no_change(const StepGraph& graph) {
  const size_t count = graph.nodes.size();
  Change change{{},
                std::vector<bool>(count),
                std::vector<bool>(count),
                std::vector<bool>(count),
                std::vector<Ns>(count)};
  change.own.reserve(count);
  for (const GraphNode& node : graph.nodes) change.own.push_back(node.own);
  return change;
}

// The usual host gap between two calls, those that shrink left out: what remains of one that does.
Ns usual_gap(const StepGraph& graph, const std::vector<bool>& shrunk) {
  std::vector<Ns> gaps;
  for (size_t index = 0; index < graph.nodes.size(); ++index)
    for (uint32_t e = graph.nodes[index].first_edge; e < graph.nodes[index].last_edge; ++e)
      if (graph.edges[e].kind == EdgeKind::program_order && !shrunk[index])
        gaps.push_back(graph.edges[e].lag);
  if (gaps.empty()) return 0;
  const auto middle = gaps.begin() + static_cast<ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return std::max<Ns>(0, *middle);
}

// Takes out what lies between two calls of one thread, and the device work launched there.
void remove_between(const StepGraph& graph, uint32_t from, uint32_t to, Change& change) {
  std::vector<uint32_t> between;
  for (uint32_t index = from + 1; index < to; ++index) {
    if (graph.nodes[index].kind != GraphNodeKind::call ||
        graph.nodes[index].lane != graph.nodes[to].lane)
      continue;
    between.push_back(index);
    if (between.size() > kMostBetween) return;
  }
  between.push_back(to);
  for (const uint32_t call : between) {
    change.own[call] = 0;
    change.gap_shrunk[call] = true;
    if (const auto works = graph.work_of.find(call); works != graph.work_of.end())
      for (const uint32_t work : works->second) change.own[work] = 0;
  }
}

void batch(const StepGraph& graph, std::span<const EventId> events, Change& change) {
  std::vector<uint32_t> calls;
  for (const EventId event : events)
    if (const auto node = graph.node_of.find(event); node != graph.node_of.end())
      calls.push_back(node->second);
  std::ranges::sort(calls);
  for (size_t i = 1; i < calls.size(); ++i) {
    const GraphNode& node = graph.nodes[calls[i]];
    if (graph.nodes[calls[i - 1]].step != node.step) continue;  // the one that remains
    remove_between(graph, calls[i - 1], calls[i], change);
    const auto returned = graph.return_of.find(node.event);
    if (returned != graph.return_of.end()) change.waits_for_none[returned->second] = true;
  }
}

void apply(const StepGraph& graph, ReplayModel model, std::span<const EventId> events,
           Change& change) {
  if (model == ReplayModel::batch_calls) batch(graph, events, change);
  // The least collective of a burst shows what one costs without its bytes.
  Ns least = -1;
  for (const EventId event : events)
    if (const auto node = graph.node_of.find(event); node != graph.node_of.end())
      least = least < 0 ? change.own[node->second] : std::min(least, change.own[node->second]);

  bool first = true;
  for (const EventId event : events) {
    const auto found = graph.node_of.find(event);
    if (found == graph.node_of.end()) continue;
    const uint32_t node = found->second;
    const auto launcher = graph.launcher_of.find(node);
    switch (model) {
      case ReplayModel::remove_sync:
        change.own[node] = 0;
        if (const auto returned = graph.return_of.find(event); returned != graph.return_of.end())
          change.waits_for_none[returned->second] = true;
        break;
      case ReplayModel::remove_kernels:
      case ReplayModel::remove_calls:
        change.own[node] = 0;
        if (launcher != graph.launcher_of.end()) change.own[launcher->second] = 0;
        break;
      case ReplayModel::shrink_host:
      case ReplayModel::prefetch_input:
        change.gap_shrunk[launcher != graph.launcher_of.end() ? launcher->second : node] = true;
        break;
      case ReplayModel::overlap_collective:
        change.lets_pass[node] = true;
        break;
      case ReplayModel::coalesce_collectives:
        if (!first) {
          change.own[node] -= least;
          if (launcher != graph.launcher_of.end()) change.own[launcher->second] = 0;
        }
        break;
      case ReplayModel::batch_calls:
      case ReplayModel::none:
        break;
    }
    first = false;
  }
  change.gap = usual_gap(graph, change.gap_shrunk);
}

Ns simulate(const StepGraph& graph, const Change& change) {
  const size_t count = graph.nodes.size();
  std::vector<Ns> start(count), end(count);
  for (size_t index = 0; index < count; ++index) {
    const GraphNode& node = graph.nodes[index];
    // What nothing in the window decides keeps its measured time.
    Ns begin = node.first_edge == node.last_edge ? node.start : graph.nodes.front().start;
    for (uint32_t e = node.first_edge; e < node.last_edge; ++e) {
      const GraphEdge& edge = graph.edges[e];
      if (edge.kind == EdgeKind::completion && change.waits_for_none[index]) continue;
      const bool on_device =
          edge.kind == EdgeKind::stream_order || edge.kind == EdgeKind::event_wait;
      if (on_device && change.lets_pass[edge.from]) continue;
      Ns lag = edge.lag - (change.explained_only ? edge.unexplained : 0);
      if (edge.kind == EdgeKind::program_order && change.gap_shrunk[index])
        lag = std::min(lag, change.gap);
      if (edge.kind == EdgeKind::program_order)
        lag = std::max(std::min<Ns>(lag, 0), lag - change.cut[index]);
      begin = std::max(begin, (edge.from_start ? start[edge.from] : end[edge.from]) + lag);
    }
    start[index] = begin;
    end[index] = begin + change.own[index];
  }
  return (start[graph.markers.back()] - start[graph.markers.front()]) / graph.steps;
}

}  // namespace

std::string_view to_string(ReplayModel model) {
  return kModelNames[static_cast<size_t>(model)];
}

Ns replay(const StepGraph& graph, ReplayModel model, std::span<const EventId> events) {
  if (graph.steps == 0) return 0;
  Change change = no_change(graph);
  apply(graph, model, events, change);
  return simulate(graph, change);
}

Ns replay_shortened(const StepGraph& graph, std::span<const std::pair<EventId, Ns>> cuts) {
  if (graph.steps == 0) return 0;
  Change change = no_change(graph);
  for (const auto& [call, cut] : cuts)
    if (const auto node = graph.node_of.find(call); node != graph.node_of.end())
      change.cut[node->second] += cut;
  return simulate(graph, change);
}

Ns replay_explained(const StepGraph& graph) {
  if (graph.steps == 0) return 0;
  Change change = no_change(graph);
  change.explained_only = true;
  return simulate(graph, change);
}

Ns measured(const StepGraph& graph) {
  if (graph.steps == 0) return 0;
  return (graph.nodes[graph.markers.back()].start - graph.nodes[graph.markers.front()].start) /
         graph.steps;
}

}  // namespace stallscope
