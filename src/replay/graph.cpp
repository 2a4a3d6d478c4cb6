// How long each edge of a step graph takes, and where its steps begin.
#include "replay/graph.h"

#include <algorithm>
#include <map>
#include <optional>

#include "replay/graph_builder.h"

namespace stallscope {
namespace {

Ns median_of(std::vector<Ns> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Ns time_of(const StepGraph& graph, const GraphEdge& edge) {
  return edge.from_start ? graph.nodes[edge.from].start : graph.nodes[edge.from].end;
}

}  // namespace

// An edge that decided when its node started carries the whole distance as its
// lag, so that the unchanged graph replays to what was measured. One that did
// not decide would, if it came to decide, take the usual distance of its kind.
// What a lag holds beyond the usual is waiting that the graph does not explain.
void GraphBuilder::settle_lags() {
  std::map<EdgeKind, std::vector<Ns>> deciding_lags;
  std::optional<Ns> shortest_launch;
  for (uint32_t index = 0; index < graph_.nodes.size(); ++index) {
    std::vector<GraphEdge>& edges = incoming_[index];
    if (edges.empty()) continue;
    const auto latest =
        std::ranges::max_element(edges, {}, [&](const GraphEdge& e) { return time_of(graph_, e); });
    for (GraphEdge& edge : edges) {
      edge.lag = graph_.nodes[index].start - time_of(graph_, edge);
      if (edge.kind == EdgeKind::launch)
        shortest_launch = std::min(shortest_launch.value_or(edge.lag), edge.lag);
    }
    // A stream's first work in the window stood in a queue that is not part of it.
    if (latest->kind == EdgeKind::launch && edges.size() == 1) continue;
    deciding_lags[latest->kind].push_back(latest->lag);
  }
  std::map<EdgeKind, Ns> usual;
  if (shortest_launch) usual[EdgeKind::launch] = std::max<Ns>(0, *shortest_launch);
  for (auto& [kind, lags] : deciding_lags)
    usual[kind] = std::max<Ns>(0, median_of(std::move(lags)));
  for (uint32_t index = 0; index < graph_.nodes.size(); ++index) {
    std::vector<GraphEdge>& edges = incoming_[index];
    const auto latest =
        std::ranges::max_element(edges, {}, [&](const GraphEdge& e) { return time_of(graph_, e); });
    for (auto edge = edges.begin(); edge != edges.end(); ++edge) {
      if (edge == latest) {
        if (edge->kind != EdgeKind::program_order)
          edge->unexplained = std::max<Ns>(0, edge->lag - usual[edge->kind]);
        continue;
      }
      if (edge->kind != EdgeKind::program_order || latest->kind == EdgeKind::hand_over) {
        edge->lag = std::min(edge->lag, usual[edge->kind]);
        continue;
      }
      // What a thread did between two calls of its own is work, but from a call
      // to its return it only waited for the device.
      if (latest->kind == EdgeKind::completion) edge->lag = 0;
    }
    graph_.nodes[index].first_edge = static_cast<uint32_t>(graph_.edges.size());
    graph_.edges.insert(graph_.edges.end(), edges.begin(), edges.end());
    graph_.nodes[index].last_edge = static_cast<uint32_t>(graph_.edges.size());
  }
}

// A step begins with its first device work, or with its range where the process runs none.
void GraphBuilder::set_markers() {
  std::vector<std::optional<uint32_t>> device(count_ + 1), host(count_ + 1);
  for (uint32_t index = 0; index < graph_.nodes.size(); ++index) {
    const GraphNode& node = graph_.nodes[index];
    if (node.step > count_) continue;
    auto& firsts = node.kind == GraphNodeKind::device ? device : host;
    if (!firsts[node.step] &&
        (node.kind == GraphNodeKind::device || node.kind == GraphNodeKind::step_start))
      firsts[node.step] = index;
  }
  const bool on_device =
      std::ranges::all_of(device, [](const auto& first) { return first.has_value(); });
  for (const auto& first : on_device ? device : host)
    if (first) graph_.markers.push_back(*first);
  graph_.steps = graph_.markers.empty() ? 0 : static_cast<uint32_t>(graph_.markers.size() - 1);
}

StepGraph build_graph(const Trace& trace, const RankSummary& rank, size_t first, size_t count) {
  if (first + count > rank.steps.size() || count == 0) return {};
  return GraphBuilder(trace, rank, first, count).build();
}

}  // namespace stallscope
