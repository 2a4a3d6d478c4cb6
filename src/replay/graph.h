// The dependency graph of a few consecutive steps of one process: host calls,
// device work, and what waits for what.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyze/summary.h"
#include "trace/trace.h"

namespace stallscope {

/// What a node stands for. A call that blocks is two nodes: what the host does
/// itself, then its return, which also waits for the device.
enum class GraphNodeKind : uint8_t { step_start, call, call_return, device };

/// Why an edge exists; a what-if removes or shortens edges by their reason.
enum class EdgeKind : uint8_t {
  program_order,  ///< previous call of the thread; the lag is the host's work between them
  hand_over,      ///< last call of the thread that waited for this one, or woke it
  launch,         ///< start of the launching call to start of its device work
  stream_order,   ///< previous work of the stream
  event_wait,     ///< work recorded by an event that this stream waits for
  completion,     ///< device work to the return of the call that waits for it
};

struct GraphEdge {
  uint32_t from = 0;
  EdgeKind kind = EdgeKind::program_order;
  bool from_start = false;  ///< counts from the start of `from`, not from its end
  Ns lag = 0;               ///< may be negative: work of one stream may overlap
  Ns unexplained = 0;       ///< of the lag: what goes beyond the usual distance of its kind
};

struct GraphNode {
  GraphNodeKind kind = GraphNodeKind::call;
  EventId event = 0;                       ///< row of the Trace; of no meaning for step_start
  uint32_t lane = 0;                       ///< track of the event
  uint32_t step = 0;                       ///< index into the replayed steps
  Ns start = 0, end = 0;                   ///< as measured
  Ns own = 0;                              ///< what it takes by itself, waiting aside
  uint32_t first_edge = 0, last_edge = 0;  ///< its incoming edges
};

/// Nodes in an order in which every edge points forwards.
struct StepGraph {
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  std::unordered_map<EventId, uint32_t> node_of;                ///< call or device node of an event
  std::unordered_map<EventId, uint32_t> return_of;              ///< return node of a blocking call
  std::unordered_map<uint32_t, uint32_t> launcher_of;           ///< device node -> call node
  std::unordered_map<uint32_t, std::vector<uint32_t>> work_of;  ///< call node -> device nodes
  std::vector<uint32_t> markers;  ///< first node of each step, plus one past the last
  uint32_t steps = 0;             ///< markers.size() - 1
};

/// Builds the graph of steps [first, first + count) of `rank`, and of the start
/// of the step after them, which bounds the last. Empty when the steps hold
/// nothing to replay.
StepGraph build_graph(const Trace& trace, const RankSummary& rank, size_t first, size_t count);

}  // namespace stallscope
