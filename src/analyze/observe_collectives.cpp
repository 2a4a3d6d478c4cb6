// collective, and each rank's share in the collectives for the merge of ranks.
#include "analyze/collectives.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyze/collective_calls.h"
#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"

namespace stallscope {
namespace {

/// At most this many collectives are kept for the merge, so that a rank's summary stays small.
constexpr size_t kMostShares = 20'000;
/// A collective hides nothing when kernels run beside it for less than this share.
constexpr double kHidesNothing = 0.05;
/// From this share on it runs beside the kernels, and what follows it in its group ends a series.
constexpr double kOverlaps = 0.5;

// Collectives that are made of messages between pairs, whose kernel is one for messages.
bool is_of_messages(CollectiveOp op) {
  return op == CollectiveOp::all_to_all || op == CollectiveOp::gather ||
         op == CollectiveOp::scatter || op == CollectiveOp::send || op == CollectiveOp::receive;
}

// What the operators around the launch say of a kernel that is for messages, or for anything.
CollectiveOp told_around(const RankContext& context, EventId id, EventId call,
                         CollectiveOp of_kernel) {
  constexpr int kLevels = 12;
  const Trace& trace = context.trace;
  const auto fits = [of_kernel](CollectiveOp op) {
    return of_kernel == CollectiveOp::unknown ? op != CollectiveOp::unknown : is_of_messages(op);
  };
  if (const CollectiveOp op = classify_collective(trace.text_field(id, kKeyCollective)); fits(op))
    return op;
  const HostThread* thread = call == kNoEvent ? nullptr : context.index.thread_of(call);
  if (thread == nullptr) return CollectiveOp::unknown;
  EventId around = thread->parent(call);
  for (int level = 0; level < kLevels && around != kNoEvent; ++level) {
    const std::string_view name = trace.name(around);
    const bool of_library = name.starts_with("nccl") || name.starts_with("c10d::");
    const bool may_tell = of_kernel != CollectiveOp::unknown || of_library;
    if (const CollectiveOp op = classify_collective(name); may_tell && fits(op)) return op;
    around = thread->parent(around);
  }
  return CollectiveOp::unknown;
}

std::string operation_of(const RankContext& context, EventId id, EventId call) {
  const Trace& trace = context.trace;
  CollectiveOp op = trace.kinds()[id] == EventKind::collective
                        ? static_cast<CollectiveOp>(trace.details()[id])
                        : CollectiveOp::unknown;
  if (op == CollectiveOp::unknown) op = classify_collective(trace.name(id));
  if (op == CollectiveOp::send_receive || op == CollectiveOp::unknown)
    if (const CollectiveOp told = told_around(context, id, call, op); told != CollectiveOp::unknown)
      op = told;
  return std::string(to_string(op));
}

std::string group_of(const Trace& trace, EventId id) {
  const Field* field = trace.field(id, kKeyGroup);
  if (field == nullptr) return {};
  return field->type == Field::Type::text ? std::string(trace.text(field->text))
                                          : std::to_string(field->integer);
}

Collective describe(const RankContext& context, EventId id, EventId call, uint32_t step) {
  const Trace& trace = context.trace;
  Collective c;
  c.id = id;
  c.call = call;
  c.step = step;
  c.start = trace.starts()[id];
  c.end = trace.end(id);
  c.operation = operation_of(context, id, call);
  c.group = group_of(trace, id);
  c.bytes = trace.number(id, kKeyBytes);
  if (const auto size = trace.integer(id, kKeyWorldSize)) c.world_size = *size;
  if (c.world_size == 0) c.world_size = trace.processes[context.index.process].world_size;
  c.sequence = trace.integer(id, kKeySequence);
  c.async = trace.integer(id, kKeyAsync);
  c.on_host = trace.tracks[trace.tracks_of_events()[id]].kind == TrackKind::thread;
  c.hidden = context.work != nullptr ? overlap(context.usage.compute, c.start, c.end) : 0;
  return c;
}

bool is_rendezvous(const std::string& operation) {
  return operation != "send" && operation != "receive" && operation != "send-receive" &&
         operation != "wait" && operation != "unknown";
}

// What the library said when it enqueued them; a kernel's own fields prevail.
void add_calls(const Trace& trace, std::span<const EventId> calls, Collective& c) {
  if (calls.empty() || !c.group.empty()) return;
  const EventId first = calls.front();
  c.group = group_of(trace, first);
  c.sequence = trace.integer(first, kKeySequence);
  c.async = trace.integer(first, kKeyAsync);
  if (const auto size = trace.integer(first, kKeyWorldSize)) c.world_size = *size;
  double bytes = 0;
  bool known = true, alike = true;
  for (const EventId call : calls) {
    const auto part = trace.number(call, kKeyBytes);
    known = known && part.has_value();
    bytes += part.value_or(0);
    alike = alike && trace.names()[call] == trace.names()[first];
  }
  if (known && !c.bytes) c.bytes = bytes;
  if (alike && !is_rendezvous(c.operation))
    c.operation = to_string(classify_collective(trace.name(first)));
}

// Ranks number the collectives of a group alike; without a number, the order within a step does.
void fill_shares(const RankContext& context, const std::vector<Collective>& collectives,
                 RankSummary& summary) {
  const int32_t rank = context.trace.processes[context.index.process].rank;
  if (rank < 0) return;
  std::map<std::tuple<std::string, std::string, uint32_t>, int64_t> ordinals;
  for (const Collective& c : collectives) {
    if (summary.collectives.size() >= kMostShares) return;
    if (c.step == kNoIndex || !is_rendezvous(c.operation) || (c.on_host && c.async == 1)) continue;
    CollectiveKey key{c.group, 0};
    if (c.sequence) {
      key.sequence = *c.sequence;
    } else {
      constexpr int64_t kPerStep = 1'000'000;
      key.group += "/" + c.operation;
      key.sequence = c.step * kPerStep + ordinals[{c.group, c.operation, c.step}]++;
    }
    const CollectiveShare share{c.end - c.start, rank, c.end - c.start, 1, c.step,
                                c.operation,     c.end};
    summary.collectives.emplace(std::move(key), share);
  }
}

}  // namespace

// Bus bandwidth counts what every link carries: factors as in nccl-tests.
double bus_factor(const std::string& operation, double ranks) {
  if (ranks < 2) return 1;
  if (operation == "all-reduce") return 2 * (ranks - 1) / ranks;
  if (operation == "all-gather" || operation == "reduce-scatter" || operation == "all-to-all")
    return (ranks - 1) / ranks;
  return 1;
}

std::vector<Collective> collectives_of(const RankContext& context) {
  const Trace& trace = context.trace;
  std::vector<Collective> found;
  if (context.work != nullptr) {
    const DeviceWork& work = *context.work;
    const CollectiveCalls calls(context);
    for (size_t i = 0; i < work.activities.size(); ++i) {
      const EventId id = work.activities[i];
      if (activity_of(trace, id, context.collective_name) != Activity::communication) continue;
      found.push_back(describe(context, id, work.launches[i], context.step_work.step_of[i]));
      add_calls(trace, calls.of(id), found.back());
    }
  }
  for (const HostThread& thread : context.index.threads) {
    Ns reached = std::numeric_limits<Ns>::min();
    for (EventId id = thread.first; id < thread.last; ++id) {
      const bool named = context.work == nullptr && trace.kinds()[id] == EventKind::range &&
                         context.natures[trace.names()[id]] & kCommunication;
      // One collective may be made of others, or announced by several layers: the outer counts.
      if ((trace.kinds()[id] != EventKind::collective && !named) || trace.end(id) <= reached)
        continue;
      reached = trace.end(id);
      found.push_back(describe(context, id, id, context.step_of_host(trace.starts()[id])));
    }
  }
  std::ranges::stable_sort(found, {}, &Collective::start);
  return found;
}

void observe_collectives(const RankContext& context, SiteTable& sites, RankSummary& summary) {
  const Trace& trace = context.trace;
  const std::vector<Collective> collectives = collectives_of(context);
  fill_shares(context, collectives, summary);
  const ThreadIdle idle(context);
  std::map<std::tuple<SiteId, std::string, std::string>, ObservationBuilder> groups;
  // Steps of a (operation, group) in which a collective ran beside kernels: the
  // last bucket of such a series has no work left to hide behind.
  std::set<std::tuple<uint32_t, std::string, std::string>> overlapping;
  for (const Collective& c : collectives) {
    const uint32_t used = c.step == kNoIndex ? kNoIndex : context.used_rank[c.step];
    if (used == kNoIndex) continue;
    const SiteId site = sites.of(c.call);
    ObservationBuilder& row = groups[{site, c.operation, c.group}];
    if (row.subject.empty()) {
      row.site = site;
      row.subject = c.operation;
      row.texts["operation"] = c.operation;
      row.texts["group"] = c.group;
      row.texts["name"] = trace.name(c.id);
      if (c.world_size > 0) row.numbers["world_size"] = static_cast<double>(c.world_size);
    }
    const auto duration = static_cast<double>(c.end - c.start);
    const auto hidden = static_cast<double>(c.hidden);
    row.count.add(used, 1);
    row.per_step["duration_ns"].add(used, duration);
    row.per_step["exposed_ns"].add(used, duration - hidden);
    row.per_step["hidden_ns"].add(used, hidden);
    if (hidden >= kOverlaps * duration) overlapping.emplace(c.step, c.operation, c.group);
    const bool ends_series = overlapping.contains({c.step, c.operation, c.group});
    row.median["waited_at_once_"].push_back(hidden < kHidesNothing * duration && !ends_series ? 1
                                                                                              : 0);
    if (c.async) row.numbers["async"] = static_cast<double>(*c.async);
    if (c.bytes && duration > 0) {
      row.median["bytes"].push_back(*c.bytes);
      const double gb_per_s = *c.bytes / duration;  // bytes per nanosecond
      row.median["algorithm_gb_per_s"].push_back(gb_per_s);
      row.median["bus_gb_per_s"].push_back(
          gb_per_s * bus_factor(c.operation, static_cast<double>(c.world_size)));
    }
    if (c.on_host) {
      row.blocked.add(used, duration);
      row.idle.add(used, static_cast<double>(
                             idle.overlap(context.index.thread_index(c.id), c.start, c.end)));
    }
    row.events.push_back(c.id);
    row.consider(duration - hidden, c.id);
  }
  RowMaker maker;
  for (auto& [key, row] : groups) {
    const std::vector<double>& at_once = row.median["waited_at_once_"];
    double sum = 0;
    for (double value : at_once) sum += value;
    row.numbers["waited_at_once"] = sum / static_cast<double>(at_once.size());
    row.median.erase("waited_at_once_");
    const size_t steps = context.used.size();
    const double total = row.per_step["duration_ns"].over(steps).total;
    row.numbers["transfer_ns"] = row.per_step["duration_ns"].over(steps).per_step();
    row.numbers["exposed_fraction"] =
        total > 0 ? row.per_step["exposed_ns"].over(steps).total / total : 0;
    maker.add("collective", row);
  }
  observe_bursts(context, sites, collectives, summary.observations);
  if (context.work != nullptr)
    observe_collective_sizes(context, sites, collectives, summary.observations);
  maker.make(context, sites, summary.observations);
}

}  // namespace stallscope
