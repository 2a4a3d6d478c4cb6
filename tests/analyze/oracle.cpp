#include "oracle.h"

#include <algorithm>
#include <optional>
#include <set>

#include "analyze/range_names.h"

namespace stallscope::oracle {
namespace {

struct Row {
  EventId id;
  Ns start, end;
};

bool is_on(const Trace& trace, EventId id, uint32_t process, TrackKind kind) {
  const Track& track = trace.tracks[trace.tracks_of_events()[id]];
  return track.process == process && track.kind == kind;
}

std::vector<Row> device_rows(const Trace& trace, uint32_t process, int32_t device) {
  std::vector<Row> rows;
  for (EventId id = 0; id < trace.size(); ++id)
    if (is_on(trace, id, process, TrackKind::stream) && is_device_work(trace.kinds()[id]) &&
        trace.tracks[trace.tracks_of_events()[id]].device == device)
      rows.push_back({id, trace.starts()[id], trace.end(id)});
  return rows;
}

// The last call with the activity's correlation that began before it, or the earliest; a call that
// begins inside the one before it on its thread is a part of that.
std::optional<EventId> launch_of(const Trace& trace, uint32_t process, EventId activity) {
  const uint32_t correlation = trace.correlations()[activity];
  if (correlation == 0) return std::nullopt;
  std::vector<EventId> calls;
  for (EventId id = 0; id < trace.size(); ++id)
    if (trace.kinds()[id] == EventKind::api && trace.correlations()[id] == correlation &&
        is_on(trace, id, process, TrackKind::thread))
      calls.push_back(id);
  std::ranges::stable_sort(calls, {}, [&](EventId id) { return trace.starts()[id]; });
  std::optional<EventId> previous, launch;
  for (const EventId id : calls) {
    const bool part = previous &&
                      trace.tracks_of_events()[id] == trace.tracks_of_events()[*previous] &&
                      trace.starts()[id] < trace.end(*previous);
    if (part) continue;
    previous = id;
    if (!launch || trace.starts()[id] <= trace.starts()[activity]) launch = id;
  }
  return launch;
}

bool is_communication(const Trace& trace, EventId id) {
  return trace.kinds()[id] == EventKind::collective ||
         (trace.kinds()[id] == EventKind::kernel && is_collective_kernel(trace.name(id)));
}

bool is_copy(const Trace& trace, EventId id) {
  return trace.kinds()[id] == EventKind::memcpy || trace.kinds()[id] == EventKind::memset;
}

using Launches = std::vector<std::optional<EventId>>;  // by event

Launches all_launches(const Trace& trace, uint32_t process) {
  Launches launches(trace.size());
  for (EventId id = 0; id < trace.size(); ++id)
    if (is_on(trace, id, process, TrackKind::stream) && is_device_work(trace.kinds()[id]))
      launches[id] = launch_of(trace, process, id);
  return launches;
}

// A call that returns when device work is done.
bool is_blocking(const Trace& trace, const Launches& launches, EventId call) {
  if (trace.kinds()[call] == EventKind::sync)
    return static_cast<SyncKind>(trace.details()[call]) != SyncKind::stream_wait_event;
  if (trace.kinds()[call] != EventKind::api) return false;
  const auto kind = static_cast<ApiCall>(trace.details()[call]);
  if (kind == ApiCall::stream_sync || kind == ApiCall::device_sync || kind == ApiCall::event_sync ||
      kind == ApiCall::copy_blocking)
    return true;
  if (kind == ApiCall::free)
    return std::string(trace.name(call)).find("Async") == std::string::npos;
  if (kind != ApiCall::copy) return false;
  for (EventId copy = 0; copy < trace.size(); ++copy) {
    if (trace.kinds()[copy] != EventKind::memcpy || trace.end(copy) > trace.end(call) ||
        launches[copy] != call)
      continue;
    std::string memory(trace.text_field(copy, kKeySourceMemory));
    if (memory != "pageable" && memory != "pinned")
      memory = trace.text_field(copy, kKeyTargetMemory);
    if (trace.full_name(copy).find("Pageable") != std::string::npos) memory = "pageable";
    if (trace.full_name(copy).find("Pinned") != std::string::npos) memory = "pinned";
    const bool unknown = memory != "pageable" && memory != "pinned";
    if (memory == "pageable" ||
        (unknown && static_cast<CopyKind>(trace.details()[copy]) == CopyKind::device_to_host))
      return true;
  }
  return false;
}

// Everything that happened on one thread, by what it can do to a gap.
struct ThreadRows {
  std::vector<Row> api, overhead, input, blocking;
};

ThreadRows thread_rows(const Trace& trace, const Launches& launches, TrackId track) {
  ThreadRows rows;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.tracks_of_events()[id] != track) continue;
    const Row row{id, trace.starts()[id], trace.end(id)};
    if (trace.kinds()[id] == EventKind::api) rows.api.push_back(row);
    if (trace.kinds()[id] == EventKind::overhead) rows.overhead.push_back(row);
    if (trace.kinds()[id] == EventKind::range && range_nature(trace.name(id)) & kInputWait)
      rows.input.push_back(row);
    if (is_blocking(trace, launches, id)) rows.blocking.push_back(row);
  }
  return rows;
}

bool covered(const std::vector<Row>& rows, Ns time) {
  return std::ranges::any_of(rows,
                             [time](const Row& r) { return r.start <= time && time < r.end; });
}

// The classes of one idle gap, instant by instant.
void add_gap(const Trace& trace, const Launches& launches, const std::vector<Row>& device, Ns from,
             Ns to, std::vector<std::optional<ThreadRows>>& threads, ClassTimes& classes) {
  std::optional<EventId> launch;
  for (const Row& row : device) {
    if (row.start != to) continue;
    const auto candidate = launches[row.id];
    if (candidate && (!launch || trace.starts()[*candidate] < trace.starts()[*launch]))
      launch = candidate;
  }
  if (!launch || trace.starts()[*launch] < from) {
    classes[StepClass::other] += to - from;
    return;
  }
  const TrackId track = trace.tracks_of_events()[*launch];
  if (!threads[track]) threads[track] = thread_rows(trace, launches, track);
  const ThreadRows& thread = *threads[track];
  if (covered(thread.blocking, from)) {
    classes[StepClass::host_sync] += to - from;
    return;
  }
  std::set<Ns> instants{from, to};
  for (const auto* rows : {&thread.api, &thread.overhead, &thread.input})
    for (const Row& row : *rows)
      for (Ns time : {row.start, row.end})
        if (from < time && time < to) instants.insert(time);
  Ns api = 0, rest = 0;
  for (auto it = instants.begin(); std::next(it) != instants.end(); ++it) {
    const Ns length = *std::next(it) - *it;
    if (covered(thread.api, *it)) api += length;
    if (covered(thread.overhead, *it))
      classes[StepClass::profiler_overhead] += length;
    else if (covered(thread.input, *it))
      classes[StepClass::input_wait] += length;
    else
      rest += length;
  }
  classes[2 * api >= to - from ? StepClass::launch_bound : StepClass::host_work] += rest;
}

}  // namespace

std::vector<StepTruth> step_classes(const Trace& trace, uint32_t process, int32_t device,
                                    const std::vector<std::pair<Ns, Ns>>& hosts) {
  const std::vector<Row> rows = device_rows(trace, process, device);
  const Launches launches = all_launches(trace, process);
  std::vector<std::optional<Ns>> first(hosts.size());
  std::vector<Ns> last_end(hosts.size(), 0);
  for (const Row& row : rows) {
    const auto launch = launches[row.id];
    if (!launch) continue;
    for (size_t i = 0; i < hosts.size(); ++i) {
      const Ns time = trace.starts()[*launch];
      if (time < hosts[i].first || time >= hosts[i].second) continue;
      if (!first[i] || row.start < *first[i]) first[i] = row.start;
      last_end[i] = std::max(last_end[i], row.end);
    }
  }
  std::vector<StepTruth> steps(hosts.size());
  std::vector<std::optional<ThreadRows>> threads(trace.tracks.size());
  for (size_t i = 0; i < hosts.size(); ++i) {
    if (!first[i] || (i + 1 < hosts.size() && !first[i + 1])) continue;
    StepTruth& step = steps[i];
    step.has_window = true;
    step.window_start = *first[i];
    step.window_end = i + 1 < hosts.size() ? *first[i + 1] : last_end[i];
    std::set<Ns> instants{step.window_start, step.window_end};
    for (const Row& row : rows)
      for (Ns time : {row.start, row.end})
        if (step.window_start < time && time < step.window_end) instants.insert(time);
    std::optional<Ns> idle_since;
    for (auto it = instants.begin(); std::next(it) != instants.end(); ++it) {
      const Ns from = *it, to = *std::next(it);
      bool compute = false, communication = false, copy = false;
      for (const Row& row : rows) {
        if (from < row.start || from >= row.end) continue;
        (is_copy(trace, row.id)            ? copy
         : is_communication(trace, row.id) ? communication
                                           : compute) = true;
      }
      if (compute || communication || copy) {
        step.classes[compute         ? StepClass::compute
                     : communication ? StepClass::exposed_communication
                                     : StepClass::exposed_copy] += to - from;
        continue;
      }
      // Idle until the next instant at which an activity starts.
      if (!idle_since) idle_since = from;
      const bool ends = to == step.window_end ||
                        std::ranges::any_of(rows, [to](const Row& r) { return r.start == to; });
      if (!ends) continue;
      add_gap(trace, launches, rows, *idle_since, to, threads, step.classes);
      idle_since.reset();
    }
  }
  return steps;
}

GpuTotals totals(const Trace& trace, uint32_t process, int32_t device) {
  const std::vector<Row> rows = device_rows(trace, process, device);
  GpuTotals result;
  if (rows.empty()) return result;
  std::set<Ns> instants;
  for (const Row& row : rows) {
    instants.insert(row.start);
    instants.insert(row.end);
    const bool communication = is_communication(trace, row.id);
    result.kernels += communication || trace.kinds()[row.id] == EventKind::kernel;
    result.collective_kernels += communication;
  }
  result.window = *instants.rbegin() - *instants.begin();
  for (auto it = instants.begin(); std::next(it) != instants.end(); ++it) {
    const Ns length = *std::next(it) - *it;
    bool compute = false, communication = false, copy = false;
    for (const Row& row : rows) {
      if (*it < row.start || *it >= row.end) continue;
      (is_copy(trace, row.id)            ? copy
       : is_communication(trace, row.id) ? communication
                                         : compute) = true;
    }
    if (compute || communication || copy) result.busy += length;
    if (compute) result.compute += length;
    if (communication) result.communication += length;
    if (communication && !compute) result.exposed_communication += length;
    if (copy) result.copy += length;
  }
  return result;
}

}  // namespace stallscope::oracle
