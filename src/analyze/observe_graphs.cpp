// graph-capture: which lines captured the work that CUDA graphs run, and which
// line replays them.
#include <map>
#include <set>
#include <tuple>

#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"

namespace stallscope {
namespace {

using GraphId = int64_t;

/// What one line captured of one graph.
struct Capture {
  std::set<int64_t> nodes;
  double time = 0;  // of its nodes; where nodes are recorded
};

struct Graph {
  std::map<SiteId, Capture> captures;
  std::map<SiteId, uint64_t> replayed_at;
  std::set<EventId> launches;
  uint64_t replays = 0;   // recorded as a whole
  double whole_time = 0;  // of these
};

/// Graphs as announced when they were made: their nodes, and what became of them.
struct Announced {
  std::map<GraphId, std::map<SiteId, Capture>> captures;
  std::map<GraphId, GraphId> made_from;

  const std::map<SiteId, Capture>* of(GraphId graph) const {
    auto found = captures.find(graph);
    if (found == captures.end())
      if (const auto source = made_from.find(graph); source != made_from.end())
        found = captures.find(source->second);
    return found == captures.end() ? nullptr : &found->second;
  }
};

Announced announced_graphs(const RankContext& context, SiteTable& sites) {
  const Trace& trace = context.trace;
  Announced announced;
  for (const HostThread& thread : context.index.threads)
    for (EventId id = thread.first; id < thread.last; ++id) {
      if (trace.kinds()[id] != EventKind::marker) continue;
      const auto graph = trace.integer(id, kKeyGraph);
      if (!graph) continue;
      if (const auto node = trace.integer(id, kKeyGraphNode))
        announced.captures[*graph][sites.of_stack(trace.stacks()[id])].nodes.insert(*node);
      else if (const auto source = trace.integer(id, kKeyExternalId))
        announced.made_from[*graph] = *source;
    }
  return announced;
}

std::map<GraphId, Graph> run_graphs(const RankContext& context, SiteTable& sites) {
  const Trace& trace = context.trace;
  const DeviceWork& work = *context.work;
  std::map<GraphId, Graph> graphs;
  for (size_t i = 0; i < work.activities.size(); ++i) {
    const EventId id = work.activities[i], launch = work.launches[i];
    const bool whole = trace.kinds()[id] == EventKind::graph_launch;
    // A node without a stack was captured before the recording, or by who knows whom.
    if (!whole && trace.stacks()[id] == 0) continue;
    const auto number = trace.integer(id, kKeyGraph);
    if (!number) continue;
    Graph& graph = graphs[*number];
    const bool first_seen = whole || graph.launches.insert(launch).second;
    if (first_seen && launch != kNoEvent) ++graph.replayed_at[sites.of(launch)];
    const auto duration = static_cast<double>(trace.durations()[id]);
    if (whole) {
      ++graph.replays;
      graph.whole_time += duration;
      continue;
    }
    Capture& capture = graph.captures[sites.of_stack(trace.stacks()[id])];
    capture.nodes.insert(trace.integer(id, kKeyGraphNode).value_or(0));
    capture.time += duration;
  }
  return graphs;
}

std::string place_name(const Place& place) {
  return place.line == 0 ? place.function : place.file + ":" + std::to_string(place.line);
}

// The line that replays it most.
std::string replayed_at(const Graph& graph, const SiteTable& sites) {
  const auto most =
      std::ranges::max_element(graph.replayed_at, {}, [](const auto& at) { return at.second; });
  return most == graph.replayed_at.end() ? std::string{}
                                         : place_name(sites.site(most->first).place);
}

}  // namespace

void observe_graphs(const RankContext& context, SiteTable& sites, Observations& observations) {
  std::map<GraphId, Graph> graphs = run_graphs(context, sites);
  if (graphs.empty()) return;
  const Announced announced = announced_graphs(context, sites);
  Observations rows;
  for (auto& [number, graph] : graphs) {
    const bool by_node = !graph.captures.empty();
    if (!by_node)
      if (const auto* known = announced.of(number)) graph.captures = *known;
    const auto replays = static_cast<double>(by_node ? graph.launches.size() : graph.replays);
    for (const auto& [site, capture] : graph.captures) {
      ObservationBuilder builder;
      builder.site = site;
      builder.subject = "CUDA graph " + std::to_string(number);
      builder.numbers["nodes"] = static_cast<double>(capture.nodes.size());
      builder.numbers["replays"] = replays;
      if (by_node) builder.numbers["duration_ns"] = capture.time;
      if (!by_node) builder.numbers["graph_ns"] = graph.whole_time;
      if (const std::string at = replayed_at(graph, sites); !at.empty())
        builder.texts["replayed_at"] = at;
      rows.push_back(builder.finish(context, sites, "graph-capture"));
    }
  }
  std::ranges::stable_sort(rows, std::greater{},
                           [](const Observation& row) { return row.numbers.at("nodes"); });
  if (rows.size() > kMostPerKind) rows.resize(kMostPerKind);
  std::ranges::move(rows, std::back_inserter(observations));
}

}  // namespace stallscope
