#include "analyze/collective_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analyze/statistics.h"

namespace stallscope {
namespace {

/// What was said this long before or after a launch is about another one.
constexpr Ns kFarthest = 100'000'000;

struct Launch {
  Ns start = 0;
  std::vector<EventId> kernels;  ///< one, or those of all replays of a graph's node
  CollectiveOp operation = CollectiveOp::unknown;  ///< of the kernel's name
};

using NodeId = int64_t;

/// Where the nodes of CUDA graphs were captured.
class CapturedNodes {
 public:
  explicit CapturedNodes(const RankContext& context) {
    const Trace& trace = context.trace;
    for (uint32_t i = 0; i < context.index.threads.size(); ++i) {
      const HostThread& thread = context.index.threads[i];
      for (EventId id = thread.first; id < thread.last; ++id) {
        if (trace.kinds()[id] != EventKind::marker) continue;
        const auto node = trace.integer(id, kKeyGraphNode);
        if (!node) continue;
        if (const auto original = trace.integer(id, kKeyExternalId))
          originals_.emplace(*node, *original);
        else
          captured_.try_emplace(*node, i, trace.starts()[id]);
      }
    }
  }

  /// The node that was captured, of which this one is a clone or a clone's clone.
  NodeId original(NodeId node) const {
    constexpr int kMostClones = 16;
    for (int i = 0; i < kMostClones; ++i) {
      const auto from = originals_.find(node);
      if (from == originals_.end()) break;
      node = from->second;
    }
    return node;
  }

  /// Thread and time; nullptr when unknown.
  const std::pair<uint32_t, Ns>* of(NodeId original) const {
    const auto found = captured_.find(original);
    return found == captured_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<NodeId, NodeId> originals_;
  std::unordered_map<NodeId, std::pair<uint32_t, Ns>> captured_;
};

// Launches of collective kernels by the thread that made them. Of all devices: what is said of one
// must not be taken for another's.
std::map<uint32_t, std::vector<Launch>> launches_of(const RankContext& context) {
  const Trace& trace = context.trace;
  std::map<uint32_t, std::vector<Launch>> launches;
  std::map<NodeId, Launch> captures;
  std::optional<CapturedNodes> nodes;
  for (const DeviceWork& work : context.index.devices)
    for (size_t i = 0; i < work.activities.size(); ++i) {
      const EventId kernel = work.activities[i], call = work.launches[i];
      if (call == kNoEvent || trace.kinds()[kernel] != EventKind::kernel ||
          !context.collective_name[trace.names()[kernel]])
        continue;
      const CollectiveOp operation = classify_collective(trace.name(kernel));
      if (const auto node = trace.integer(kernel, kKeyGraphNode)) {
        if (!nodes) nodes.emplace(context);
        Launch& capture = captures[nodes->original(*node)];
        capture.operation = operation;
        capture.kernels.push_back(kernel);
        continue;
      }
      launches[context.index.thread_index(call)].push_back(
          {trace.starts()[call], {kernel}, operation});
    }
  for (auto& [node, capture] : captures)
    if (const auto* captured = nodes->of(node)) {
      capture.start = captured->second;
      launches[captured->first].push_back(std::move(capture));
    }
  for (auto& [thread, own] : launches) std::ranges::sort(own, {}, &Launch::start);
  return launches;
}

// A profiler plugin's records are calls; NVTX tells the same by ranges, and then twice.
std::vector<EventId> descriptions_on(const Trace& trace, const HostThread& thread) {
  std::vector<EventId> calls, ranges;
  for (EventId id = thread.first; id < thread.last; ++id) {
    const EventKind kind = trace.kinds()[id];
    if (kind == EventKind::api && static_cast<ApiCall>(trace.details()[id]) == ApiCall::collective)
      calls.push_back(id);
    else if (kind == EventKind::range && trace.name(id).starts_with("nccl") &&
             (trace.field(id, kKeyGroup) != nullptr || trace.field(id, kKeyBytes) != nullptr))
      ranges.push_back(id);
  }
  return calls.empty() ? ranges : calls;
}

bool fits(CollectiveOp kernel, CollectiveOp call) {
  if (kernel == CollectiveOp::unknown || kernel == call) return true;
  // Made of messages between pairs, whose kernel is one for messages.
  return kernel == CollectiveOp::send_receive;
}

class Thread {
 public:
  Thread(const Trace& trace, const std::vector<Launch>& launches)
      : trace_(trace), launches_(launches) {}

  /// The launch inside the call, else the next one on the given side; nullptr when none fits.
  const Launch* of(EventId call, bool before) const {
    const auto next =
        std::ranges::lower_bound(launches_, trace_.starts()[call], {}, &Launch::start);
    if (next != launches_.end() && next->start < trace_.end(call)) return fitting(*next, call);
    if (before) return next == launches_.begin() ? nullptr : fitting(*std::prev(next), call);
    return next == launches_.end() ? nullptr : fitting(*next, call);
  }

  Ns distance(EventId call, const Launch& launch) const {
    return std::max(launch.start - trace_.end(call), trace_.starts()[call] - launch.start);
  }

 private:
  const Launch* fitting(const Launch& launch, EventId call) const {
    const bool fit = fits(launch.operation, classify_collective(trace_.name(call)));
    return fit && distance(call, launch) <= kFarthest ? &launch : nullptr;
  }

  const Trace& trace_;
  const std::vector<Launch>& launches_;
};

// Versions of the library differ in when they speak: the nearer side is the one.
bool speaks_after_launch(const Thread& thread, const std::vector<EventId>& calls) {
  std::vector<double> before, after;
  for (const EventId call : calls) {
    const Launch* const earlier = thread.of(call, true);
    const Launch* const later = thread.of(call, false);
    if (earlier != nullptr) before.push_back(static_cast<double>(thread.distance(call, *earlier)));
    if (later != nullptr) after.push_back(static_cast<double>(thread.distance(call, *later)));
  }
  if (before.empty() || after.empty()) return after.empty();
  return median_of(std::move(before)) <= median_of(std::move(after));
}

}  // namespace

CollectiveCalls::CollectiveCalls(const RankContext& context) {
  for (const auto& [index, launches] : launches_of(context)) {
    const std::vector<EventId> calls = descriptions_on(context.trace, context.index.threads[index]);
    if (calls.empty()) continue;
    const Thread thread(context.trace, launches);
    const bool before = speaks_after_launch(thread, calls);
    for (const EventId call : calls)
      if (const Launch* const launch = thread.of(call, before))
        for (const EventId kernel : launch->kernels) calls_[kernel].push_back(call);
  }
}

std::span<const EventId> CollectiveCalls::of(EventId kernel) const {
  const auto found = calls_.find(kernel);
  return found == calls_.end() ? std::span<const EventId>() : found->second;
}

}  // namespace stallscope
