// GraphBuilder: the passes that turn the events of a few steps into a StepGraph.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "replay/graph.h"

namespace stallscope {

/// Used once: construct, build().
class GraphBuilder {
 public:
  GraphBuilder(const Trace& trace, const RankSummary& rank, size_t first, size_t count);
  StepGraph build();

 private:
  void add_calls();
  void add_device_work();
  void add_step_starts();
  void order_nodes();
  void index_device_work();
  void link_threads();
  void link_streams();
  void link_event_waits();
  void infer_waits();
  std::unordered_map<uint32_t, EventId> event_records(EventKind kind) const;
  int64_t stream_of(EventId record) const;
  void link_completions();
  void settle_lags();
  void set_markers();

  uint32_t step_at(Ns time) const;
  bool blocks(EventId call) const;
  EventId outermost(EventId call) const;
  std::optional<uint32_t> awaited_by(uint32_t call_node) const;
  bool returns_after(uint32_t call_node, uint32_t device_node) const;
  void link(uint32_t from, uint32_t to, EdgeKind kind, bool from_start = false);

  const Trace& trace_;
  const RankSummary& rank_;
  size_t first_, count_;
  uint32_t process_ = 0;
  uint32_t step_thread_ = 0;
  Ns from_ = 0, to_ = 0;
  std::vector<GraphNode> starts_, calls_, device_;
  std::unordered_map<uint32_t, EventId> call_of_correlation_;
  std::unordered_map<EventId, EventId> outer_of_;   // nested call -> outermost
  std::unordered_map<EventId, EventId> launch_of_;  // device work -> its call
  std::unordered_map<EventId, Ns> shortest_of_;     // call -> shortest of its name
  struct Launched {
    uint32_t work, call;  // nodes
  };
  std::map<uint32_t, std::vector<Launched>> work_on_;  // lane -> its work by start
  std::vector<std::vector<GraphEdge>> incoming_;
  StepGraph graph_;
};

}  // namespace stallscope
