// The nodes of a step graph: calls, device work, step starts.
#include <algorithm>
#include <map>
#include <tuple>

#include "replay/graph_builder.h"

namespace stallscope {
GraphBuilder::GraphBuilder(const Trace& trace, const RankSummary& rank, size_t first, size_t count)
    : trace_(trace), rank_(rank), first_(first), count_(count) {
  for (uint32_t process = 0; process < trace.processes.size(); ++process)
    if (trace.processes[process].pid == rank.pid) process_ = process;
  // The step after the last bounds it: its first work is the last marker.
  from_ = rank.steps[first].host_start;
  to_ = rank.steps[std::min(first + count, rank.steps.size() - 1)].host_end;
}

StepGraph GraphBuilder::build() {
  add_calls();
  add_device_work();
  add_step_starts();
  order_nodes();
  link_threads();
  link_streams();
  link_completions();
  settle_lags();
  set_markers();
  return std::move(graph_);
}

uint32_t GraphBuilder::step_at(Ns time) const {
  uint32_t step = 0;
  while (step < count_ && first_ + step + 1 < rank_.steps.size() &&
         rank_.steps[first_ + step + 1].host_start <= time)
    ++step;
  return step;
}

bool GraphBuilder::blocks(EventId id) const {
  switch (static_cast<ApiCall>(trace_.details()[id])) {
    case ApiCall::stream_sync:
    case ApiCall::device_sync:
    case ApiCall::event_sync:
    case ApiCall::copy_blocking:
    case ApiCall::copy:  // pageable copies block; whether this one did shows in its end
      return true;
    default:
      return false;
  }
}

void GraphBuilder::add_calls() {
  std::unordered_map<StringId, Ns> shortest;
  for (TrackId track = 0; track < trace_.tracks.size(); ++track) {
    if (trace_.tracks[track].process != process_ || trace_.tracks[track].kind != TrackKind::thread)
      continue;
    const auto [begin, end] = trace_.rows(track);
    const auto starts = trace_.starts();
    EventId id = static_cast<EventId>(
        std::lower_bound(starts.begin() + begin, starts.begin() + end, from_) - starts.begin());
    Ns outer_end = from_;
    uint32_t outer = 0;
    for (; id < end && starts[id] < to_; ++id) {
      const EventKind kind = trace_.kinds()[id];
      if (kind != EventKind::api && kind != EventKind::collective) continue;
      if (const uint32_t correlation = trace_.correlations()[id]; correlation != 0)
        call_of_correlation_[correlation] = id;
      // A driver call inside a runtime call is part of it.
      if (starts[id] < outer_end) {
        outer_of_[id] = outer;
        continue;
      }
      outer = id;
      outer_end = trace_.end(id);
      calls_.push_back({GraphNodeKind::call, id, track, step_at(starts[id]), starts[id], outer_end,
                        trace_.durations()[id], 0, 0});
      auto [it, added] = shortest.try_emplace(trace_.names()[id], trace_.durations()[id]);
      if (!added) it->second = std::min(it->second, trace_.durations()[id]);
    }
  }
  for (GraphNode& node : calls_) shortest_of_[node.event] = shortest[trace_.names()[node.event]];
}

void GraphBuilder::add_device_work() {
  for (TrackId track = 0; track < trace_.tracks.size(); ++track) {
    const Track& stream = trace_.tracks[track];
    if (stream.process != process_ || stream.kind != TrackKind::stream) continue;
    if (rank_.device >= 0 && stream.device != rank_.device) continue;
    const auto [begin, end] = trace_.rows(track);
    const auto starts = trace_.starts();
    // Device work starts after its launch, so nothing before the window belongs to it.
    EventId id = static_cast<EventId>(
        std::lower_bound(starts.begin() + begin, starts.begin() + end, from_) - starts.begin());
    for (; id < end; ++id) {
      if (!is_device_work(trace_.kinds()[id])) continue;
      const auto call = call_of_correlation_.find(trace_.correlations()[id]);
      if (call == call_of_correlation_.end()) continue;
      device_.push_back({GraphNodeKind::device, id, track, step_at(trace_.starts()[call->second]),
                         starts[id], trace_.end(id), trace_.durations()[id], 0, 0});
      launch_of_[id] = outermost(call->second);
    }
  }
}

EventId GraphBuilder::outermost(EventId call) const {
  const auto outer = outer_of_.find(call);
  return outer == outer_of_.end() ? call : outer->second;
}

void GraphBuilder::add_step_starts() {
  // They lie on the thread that makes most calls: the one the steps were found on.
  std::map<uint32_t, size_t> per_thread;
  for (const GraphNode& node : calls_) ++per_thread[node.lane];
  size_t most = 0;
  for (const auto& [lane, calls] : per_thread) {
    if (calls > most) step_thread_ = lane;
    most = std::max(most, calls);
  }
  for (uint32_t step = 0; step <= count_ && first_ + step < rank_.steps.size(); ++step) {
    const Ns at = rank_.steps[first_ + step].host_start;
    starts_.push_back({GraphNodeKind::step_start, 0, step_thread_, step, at, at, 0, 0, 0});
  }
}

void GraphBuilder::order_nodes() {
  // Ties: calls return, a step starts, calls begin (and return, when they take
  // no time at all), then the device.
  enum Tie { kReturn, kStep, kCall, kReturnAtOnce, kDevice };
  std::vector<std::tuple<Ns, Tie, GraphNode>> ordered;
  ordered.reserve(starts_.size() + 2 * calls_.size() + device_.size());
  for (const GraphNode& start : starts_) ordered.emplace_back(start.start, kStep, start);
  for (const GraphNode& call : calls_) {
    ordered.emplace_back(call.start, kCall, call);
    if (trace_.kinds()[call.event] != EventKind::api || !blocks(call.event)) continue;
    GraphNode returned = call;
    returned.kind = GraphNodeKind::call_return;
    returned.start = call.end;
    returned.own = 0;
    ordered.emplace_back(call.end, call.end > call.start ? kReturn : kReturnAtOnce, returned);
  }
  for (const GraphNode& work : device_) ordered.emplace_back(work.start, kDevice, work);
  std::ranges::stable_sort(ordered, [](const auto& a, const auto& b) {
    return std::tie(std::get<Ns>(a), std::get<Tie>(a)) <
           std::tie(std::get<Ns>(b), std::get<Tie>(b));
  });
  std::vector<GraphNode>& nodes = graph_.nodes;
  nodes.reserve(ordered.size());
  for (auto& [time, tie, node] : ordered) nodes.push_back(node);
  incoming_.resize(nodes.size());
  for (uint32_t index = 0; index < nodes.size(); ++index) {
    if (nodes[index].kind == GraphNodeKind::call || nodes[index].kind == GraphNodeKind::device)
      graph_.node_of[nodes[index].event] = index;
    if (nodes[index].kind == GraphNodeKind::call_return)
      graph_.return_of[nodes[index].event] = index;
  }
}

}  // namespace stallscope
