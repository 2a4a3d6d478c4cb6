#include "analyze/wait_table.h"

#include <algorithm>
#include <tuple>

#include "analyze/statistics.h"

namespace stallscope {
namespace {

constexpr size_t kMostWaits = 50;

// Classes whose gaps the host caused: from the launch call on, the device waits for the launch.
bool ends_with_launch(StepClass step_class) {
  return step_class == StepClass::host_work || step_class == StepClass::launch_bound ||
         step_class == StepClass::host_sync;
}

}  // namespace

WaitTable::WaitTable(const RankContext& context, SiteTable& sites)
    : context_(context), sites_(sites) {
  std::vector<double> latencies;
  for (const IdlePiece& piece : context.idle)
    if (context.used_rank[piece.step] != kNoIndex && ends_with_launch(piece.step_class))
      latencies.push_back(static_cast<double>(latency_of(piece)));
  usual_latency_ = static_cast<Ns>(median_of(std::move(latencies)));
}

Ns WaitTable::latency_of(const IdlePiece& piece) const {
  const Ns launched = std::max(piece.start, context_.trace.starts()[piece.launch]);
  return std::clamp<Ns>(piece.end - launched, 0, piece.length);
}

void WaitTable::add(std::string_view cause, SiteId site, std::string_view subject, Ns ns) {
  if (ns <= 0) return;
  Row& row = rows_[{cause, site}];
  row.total += ns;
  if (ns > row.largest) {
    row.largest = ns;
    row.subject = subject;
  }
}

void WaitTable::add_host_work(const IdlePiece& piece, SiteId site,
                              const std::string& host_function) {
  const Ns latency = latency_of(piece);
  add("host-work", site, host_function, piece.length - latency);
  add("launch-latency", 0, {}, latency);
}

void WaitTable::add_piece(const IdlePiece& piece) {
  const Trace& trace = context_.trace;
  const auto name = [&](EventId id) { return id == kNoEvent ? "" : trace.name(id); };
  switch (piece.step_class) {
    case StepClass::host_sync: {
      const EventId call = context_.index.threads[piece.thread].blocking[piece.blocking].id;
      const Ns latency = latency_of(piece);
      add("host-sync", sites_.of(call), name(call), piece.length - latency);
      add("launch-latency", 0, {}, latency);
      break;
    }
    case StepClass::launch_bound: {
      // The calls fill the gap; what follows the last one's return is latency.
      const Ns latency = std::clamp<Ns>(piece.end - std::max(piece.start, trace.end(piece.launch)),
                                        0, piece.length);
      add("launch-call", sites_.of(piece.launch), name(piece.launch), piece.length - latency);
      add("launch-latency", 0, {}, latency);
      break;
    }
    case StepClass::input_wait:
      add("input-wait", sites_.of(piece.launch), {}, piece.length);
      break;
    case StepClass::profiler_overhead:
      add("profiler-overhead", 0, {}, piece.length);
      break;
    case StepClass::other: {
      if (piece.launch == kNoEvent) {
        add("unknown-launch", 0, name(piece.ended_by), piece.length);
        break;
      }
      // Launched before the gap: the first part is still the way from the call to the device.
      const Ns ready = trace.starts()[piece.launch] + usual_latency_;
      const Ns latency = std::clamp<Ns>(ready - piece.start, 0, piece.length);
      add("launch-latency", 0, {}, latency);
      add("stream-dependency", sites_.of(piece.launch), name(piece.ended_by),
          piece.length - latency);
      break;
    }
    default:
      break;
  }
}

std::vector<WaitShare> WaitTable::finish() {
  for (const IdlePiece& piece : context_.idle)
    if (context_.used_rank[piece.step] != kNoIndex && piece.step_class != StepClass::host_work)
      add_piece(piece);
  for (uint32_t i : context_.used) {
    const ClassTimes& classes = context_.steps[i].classes;
    add("copy", 0, {}, classes[StepClass::exposed_copy]);
    add("communication", 0, {}, classes[StepClass::exposed_communication]);
  }
  std::vector<WaitShare> shares;
  for (const auto& [key, row] : rows_) {
    const Site& site = sites_.site(key.second);
    shares.push_back({std::string(key.first), row.subject, site.op, site.place,
                      row.total / static_cast<Ns>(context_.used.size())});
  }
  std::ranges::sort(shares, [](const WaitShare& a, const WaitShare& b) {
    return a.per_step != b.per_step
               ? a.per_step > b.per_step
               : std::tie(a.cause, a.place, a.op) < std::tie(b.cause, b.place, b.op);
  });
  // What is left out is summed by cause, so that the table stays whole.
  std::map<std::string, Ns> rest;
  while (shares.size() > kMostWaits) {
    rest[shares.back().cause] += shares.back().per_step;
    shares.pop_back();
  }
  for (const auto& [cause, ns] : rest)
    if (ns > 0) shares.push_back({cause, "others", {}, {}, ns});
  return shares;
}

}  // namespace stallscope
