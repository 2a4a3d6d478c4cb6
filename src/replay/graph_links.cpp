// The edges of a step graph: what waits for what.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "replay/graph_builder.h"

namespace stallscope {
namespace {

// Device clocks are converted with an error of this order (facts of CUPTI's
// clock conversion); an activity may seem to end this much after its waiter.
constexpr Ns kClockTolerance = 5'000;

// An asynchronous copy between kinds of memory nobody recorded is taken for a
// blocking one beyond this: enqueueing takes a few microseconds.
constexpr Ns kBlockingCopy = 20'000;

// Gaps shorter than this are host work, not a hand-over between threads: a
// futex wake-up takes longer.
constexpr Ns kHandOverGap = 10'000;

}  // namespace

void GraphBuilder::link(uint32_t from, uint32_t to, EdgeKind kind, bool from_start) {
  if (from >= to) return;  // the clocks disagree: better no edge than a wrong one
  incoming_[to].push_back({from, kind, from_start, 0});
}

void GraphBuilder::link_threads() {
  std::unordered_map<uint32_t, uint32_t> previous;  // lane -> last host node
  std::optional<uint32_t> latest;                   // last host node to end, of any thread
  for (uint32_t index = 0; index < graph_.nodes.size(); ++index) {
    const GraphNode& node = graph_.nodes[index];
    if (node.kind == GraphNodeKind::device) continue;
    const auto before = previous.find(node.lane);
    if (before != previous.end()) link(before->second, index, EdgeKind::program_order);
    // The thread stood still while another worked: it was woken by that one's last call.
    const Ns idle_since = before != previous.end() ? graph_.nodes[before->second].end : from_;
    if (latest && graph_.nodes[*latest].lane != node.lane &&
        node.start - idle_since > kHandOverGap && graph_.nodes[*latest].end > idle_since)
      link(*latest, index, EdgeKind::hand_over);
    previous[node.lane] = index;
    latest = index;
  }
}

void GraphBuilder::link_streams() {
  std::unordered_map<uint32_t, uint32_t> previous;  // stream -> last node
  for (uint32_t index = 0; index < graph_.nodes.size(); ++index) {
    const GraphNode& node = graph_.nodes[index];
    if (node.kind != GraphNodeKind::device) continue;
    if (const auto call = graph_.node_of.find(launch_of_[node.event]);
        call != graph_.node_of.end()) {
      link(call->second, index, EdgeKind::launch, true);
      graph_.launcher_of[index] = call->second;
    }
    if (const auto before = previous.find(node.lane); before != previous.end())
      link(before->second, index, EdgeKind::stream_order);
    previous[node.lane] = index;
  }
  index_device_work();
  link_event_waits();
}

void GraphBuilder::link_completions() {
  for (const auto& [event, returned] : graph_.return_of) {
    const uint32_t call = graph_.node_of[event];
    const auto awaited = awaited_by(call);
    if (!awaited || !returns_after(call, *awaited)) continue;
    link(*awaited, returned, EdgeKind::completion);
    GraphNode& node = graph_.nodes[call];
    if (graph_.nodes[*awaited].end <= node.start) continue;  // it had nothing to wait for
    node.own = std::min(node.own, shortest_of_[event]);
    node.end = node.start + node.own;
  }
}

// Whether the call comes back only when `work` is complete. An asynchronous
// copy does so for pageable memory; where the memory is unknown, its length tells.
bool GraphBuilder::returns_after(uint32_t call, uint32_t work) const {
  const EventId event = graph_.nodes[call].event;
  const Ns call_end = trace_.end(event);
  if (graph_.nodes[work].end > call_end + kClockTolerance) return false;
  if (static_cast<ApiCall>(trace_.details()[event]) != ApiCall::copy) return true;
  const EventId copy = graph_.nodes[work].event;
  const std::string_view source = trace_.text_field(copy, kKeySourceMemory);
  const std::string_view target = trace_.text_field(copy, kKeyTargetMemory);
  if (source == "pageable" || target == "pageable") return true;
  const bool memory_known = !source.empty() && !target.empty();
  return !memory_known && trace_.durations()[event] > kBlockingCopy;
}

void GraphBuilder::index_device_work() {
  for (uint32_t index = 0; index < graph_.nodes.size(); ++index) {
    const GraphNode& node = graph_.nodes[index];
    if (node.kind != GraphNodeKind::device) continue;
    const auto launcher = graph_.launcher_of.find(index);
    if (launcher == graph_.launcher_of.end()) continue;
    graph_.work_of[launcher->second].push_back(index);
    work_on_[node.lane].push_back({index, launcher->second});
  }
}

// The last work, in issue order, of the stream (or of all streams) that the
// call names; a copy waits for itself.
std::optional<uint32_t> GraphBuilder::awaited_by(uint32_t call) const {
  const EventId event = graph_.nodes[call].event;
  const Ns call_end = trace_.end(event);
  const auto kind = static_cast<ApiCall>(trace_.details()[event]);
  if (kind == ApiCall::copy || kind == ApiCall::copy_blocking) {
    const auto own = graph_.work_of.find(call);
    if (own == graph_.work_of.end()) return std::nullopt;
    const auto after = std::ranges::upper_bound(own->second, call_end, std::less<>{},
                                                [&](uint32_t i) { return graph_.nodes[i].start; });
    if (after == own->second.begin()) return std::nullopt;
    return *std::prev(after);
  }
  const auto stream = trace_.integer(event, kKeyStream);
  const Ns issued_before = graph_.nodes[call].start;
  std::optional<uint32_t> found;
  for (const auto& [lane, works] : work_on_) {
    if (kind == ApiCall::stream_sync && stream && trace_.tracks[lane].id != *stream) continue;
    // A stream runs in order, so the last one that fits ends last. What other
    // threads launched while the call waited is stepped over.
    auto after = std::ranges::upper_bound(works, call_end, std::less<>{}, [&](const Launched& w) {
      return graph_.nodes[w.work].start;
    });
    while (after != works.begin() && graph_.nodes[std::prev(after)->call].start > issued_before)
      --after;
    if (after == works.begin()) continue;
    const uint32_t last = std::prev(after)->work;
    if (!found || graph_.nodes[last].end > graph_.nodes[*found].end) found = last;
  }
  return found;
}

}  // namespace stallscope
