// host-sync: calls that made the host wait for the device.
#include <map>
#include <tuple>

#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"
#include "analyze/stream_order.h"

namespace stallscope {
namespace {

/// A copy and the synchronisation after it are one block when no more than this lies between.
constexpr Ns kAdjacent = 50'000;
constexpr EventId kLookBack = 16;

/// One block of the host: a blocking call, or a copy and the synchronisation that follows it.
struct Block {
  EventId call = kNoEvent;  ///< the call that blocks
  EventId copy = kNoEvent;  ///< the copy call that belongs to it, perhaps the same
  Ns blocked = 0;
  Ns idle = 0;  ///< device idle charged, in used steps
  uint32_t idle_step = kNoIndex;
};

// The runtime's call, where a trace has the driver's call that it makes as well.
EventId outer_call(const Trace& trace, const HostThread& thread, EventId call) {
  for (EventId id = call; id > thread.first && call - id < kLookBack;) {
    --id;
    if (trace.kinds()[id] == EventKind::api && trace.end(id) >= trace.end(call) &&
        trace.correlations()[id] == trace.correlations()[call])
      return id;
  }
  return call;
}

EventId copy_before(const Trace& trace, const HostThread& thread, EventId call) {
  const Ns start = trace.starts()[call];
  for (EventId id = call; id > thread.first && call - id < kLookBack;) {
    --id;
    if (trace.kinds()[id] != EventKind::api) continue;
    const auto kind = static_cast<ApiCall>(trace.details()[id]);
    if (kind == ApiCall::query || kind == ApiCall::other) continue;
    if (kind != ApiCall::copy) return kNoEvent;
    const EventId copy = outer_call(trace, thread, id);
    const Ns end = trace.end(copy);
    return end <= start && start - end <= kAdjacent ? copy : kNoEvent;
  }
  return kNoEvent;
}

bool is_sync(const Trace& trace, EventId call) {
  if (trace.kinds()[call] != EventKind::api) return false;
  const auto kind = static_cast<ApiCall>(trace.details()[call]);
  return kind == ApiCall::stream_sync || kind == ApiCall::event_sync ||
         kind == ApiCall::device_sync;
}

std::vector<Block> blocks_of(const Trace& trace, const HostThread& thread,
                             const std::vector<std::pair<Ns, uint32_t>>& idle) {
  std::vector<Block> blocks;
  for (size_t i = 0; i < thread.blocking.size(); ++i) {
    const BlockingCall& call = thread.blocking[i];
    Block block;
    block.call = block.copy = call.id;
    block.blocked = call.end - call.start;
    std::tie(block.idle, block.idle_step) = idle[i];
    if (is_sync(trace, call.id)) {
      block.copy = copy_before(trace, thread, call.id);
      if (block.copy != kNoEvent && !blocks.empty() && blocks.back().call == block.copy) {
        block.blocked += blocks.back().blocked;
        block.idle += blocks.back().idle;
        if (block.idle_step == kNoIndex) block.idle_step = blocks.back().idle_step;
        blocks.pop_back();
      }
    }
    blocks.push_back(block);
  }
  return blocks;
}

}  // namespace

void observe_host_sync(const RankContext& context, SiteTable& sites, const StreamOrder& order,
                       std::vector<Observation>& observations) {
  const Trace& trace = context.trace;
  const ProcessIndex& index = context.index;
  // Idle charged to each blocking call, in used steps.
  std::vector<std::vector<std::pair<Ns, uint32_t>>> idle(index.threads.size());
  for (size_t t = 0; t < index.threads.size(); ++t)
    idle[t].assign(index.threads[t].blocking.size(), {0, kNoIndex});
  for (const IdlePiece& piece : context.idle) {
    if (piece.step_class != StepClass::host_sync) continue;
    const uint32_t used = context.used_rank[piece.step];
    if (used == kNoIndex) continue;
    auto& [ns, step] = idle[piece.thread][piece.blocking];
    ns += piece.length;
    step = used;
  }

  using GroupKey = std::tuple<SiteId, StringId, uint8_t>;
  std::map<GroupKey, ObservationBuilder> groups;
  for (size_t t = 0; t < index.threads.size(); ++t) {
    for (const Block& block : blocks_of(trace, index.threads[t], idle[t])) {
      const EventId transfer = block.copy == kNoEvent ? kNoEvent : order.launched_by(block.copy);
      const Ns start = trace.starts()[block.call];
      const uint32_t used = context.used_at(start);
      const bool startup = used == kNoIndex && context.in_startup(start);
      if (used == kNoIndex && block.idle_step == kNoIndex && !startup) continue;
      const uint8_t copy = transfer == kNoEvent ? 0 : trace.details()[transfer];
      const SiteId site = sites.of(block.call);
      ObservationBuilder& group = groups[{site, trace.names()[block.call], copy}];
      if (group.subject.empty()) {
        group.site = site;
        group.subject = trace.name(block.call);
        group.texts["call"] = detail_name(trace.kinds()[block.call], trace.details()[block.call]);
        if (transfer != kNoEvent) {
          group.texts["copy"] = detail_name(EventKind::memcpy, copy);
          group.texts["host_memory"] = host_memory(trace, transfer);
        }
      }
      if (startup) {
        group.one_time_ns += static_cast<double>(block.blocked);
        continue;
      }
      if (block.idle_step != kNoIndex)
        group.idle.add(block.idle_step, static_cast<double>(block.idle));
      if (used == kNoIndex) continue;
      group.events.push_back(block.call);
      if (block.copy != kNoEvent && block.copy != block.call) group.events.push_back(block.copy);
      group.count.add(used, 1);
      group.blocked.add(used, static_cast<double>(block.blocked));
      // The copy of a block may be what waits, and its synchronisation short.
      const Ns from = trace.starts()[block.copy == kNoEvent ? block.call : block.copy];
      group.per_step["device_busy_ns"].add(
          used, static_cast<double>(overlap(context.usage.busy, from, trace.end(block.call))));
      if (transfer != kNoEvent)
        if (const auto bytes = trace.integer(transfer, kKeyBytes))
          group.median["bytes"].push_back(static_cast<double>(*bytes));
      // A copy of a few bytes is not what is waited for, but what it had to wait for itself.
      EventId cause = block.copy == kNoEvent ? kNoEvent : order.waited_for(block.copy);
      if (cause == kNoEvent || cause == transfer) cause = order.waited_for(block.call);
      if (cause != kNoEvent) {
        group.causes[std::string(trace.name(cause))] += static_cast<double>(block.blocked);
        group.median["cause_ns"].push_back(static_cast<double>(trace.durations()[cause]));
        group.median["waited_ns"].push_back(static_cast<double>(
            trace.end(cause) - trace.starts()[block.copy == kNoEvent ? block.call : block.copy]));
      }
      const bool copy_waits =
          block.copy != kNoEvent && trace.durations()[block.copy] > trace.durations()[block.call];
      group.consider(static_cast<double>(block.idle + block.blocked),
                     copy_waits ? block.copy : block.call, trace.stacks()[block.call]);
    }
  }
  RowMaker maker;
  for (auto& [key, group] : groups) maker.add("host-sync", group);
  maker.make(context, sites, observations);
}

}  // namespace stallscope
