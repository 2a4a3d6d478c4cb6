#include "analyze/process_index.h"

#include <algorithm>

#include "analyze/launches.h"
#include "base/parallel.h"

namespace stallscope {
namespace {

bool blocks_by_nature(const Trace& trace, EventId id) {
  if (trace.kinds()[id] == EventKind::sync) {
    const auto sync = static_cast<SyncKind>(trace.details()[id]);
    return sync != SyncKind::stream_wait_event;
  }
  if (trace.kinds()[id] != EventKind::api) return false;
  switch (static_cast<ApiCall>(trace.details()[id])) {
    case ApiCall::stream_sync:
    case ApiCall::device_sync:
    case ApiCall::event_sync:
    case ApiCall::copy_blocking:
      return true;
    case ApiCall::free:  // waits for the device, but for its stream-ordered form
      return trace.name(id).find("Async") == std::string_view::npos;
    default:
      return false;
  }
}

// Unions, blocking calls by nature, and the range around each event: one pass over the rows,
// which come ordered by start, enclosing before enclosed.
void index_thread(const Trace& trace, const std::vector<uint8_t>& natures, HostThread& thread) {
  const auto kinds = trace.kinds();
  const auto names = trace.names();
  UnionBuilder api, overhead, input;
  std::vector<EventId> open;
  thread.parents.resize(thread.last - thread.first);
  for (EventId id = thread.first; id < thread.last; ++id) {
    const Ns start = trace.starts()[id], end = trace.end(id);
    while (!open.empty() && trace.end(open.back()) <= start) open.pop_back();
    thread.parents[id - thread.first] = open.empty() ? kNoEvent : open.back();
    switch (kinds[id]) {
      case EventKind::range:
        if (natures[names[id]] & kInputWait) input.add(start, end);
        open.push_back(id);
        break;
      case EventKind::api:
        api.add(start, end);
        break;
      case EventKind::overhead:
        overhead.add(start, end);
        break;
      default:
        break;
    }
    if (blocks_by_nature(trace, id)) thread.blocking.push_back({id, start, end});
  }
  thread.api = api.take();
  thread.overhead = overhead.take();
  thread.input = input.take();
  thread.overhead_and_input = unite(thread.overhead, thread.input);
}

// A call by the runtime's interface holds the same call by the driver's: the outer one counts.
void drop_nested(std::vector<BlockingCall>& calls) {
  std::ranges::sort(calls, [](const BlockingCall& a, const BlockingCall& b) {
    if (a.start != b.start) return a.start < b.start;
    return a.end != b.end ? a.end > b.end : a.id < b.id;
  });
  Ns reached = std::numeric_limits<Ns>::min();
  std::erase_if(calls, [&reached](const BlockingCall& call) {
    if (call.end <= reached && call.end > call.start) return true;
    reached = std::max(reached, call.end);
    return false;
  });
}

// An asynchronous copy from or to pageable memory blocks all the same. It shows by returning only
// after the copy was done; where the memory is unknown this is believed of copies to the host.
bool blocked_by_copy(const Trace& trace, EventId copy, EventId call) {
  if (trace.kinds()[call] != EventKind::api ||
      static_cast<ApiCall>(trace.details()[call]) != ApiCall::copy ||
      trace.end(call) < trace.end(copy))
    return false;
  const std::string_view memory = host_memory(trace, copy);
  if (memory == "pageable") return true;
  return memory.empty() && static_cast<CopyKind>(trace.details()[copy]) == CopyKind::device_to_host;
}

DeviceWork collect_device(const Trace& trace, int32_t device, const std::vector<TrackId>& streams,
                          const LaunchTable& launches) {
  DeviceWork work;
  work.device = device;
  std::vector<EventId> merged;
  for (TrackId track : streams) {
    const auto [first, last] = trace.rows(track);
    std::vector<EventId> own;
    for (EventId id = first; id < last; ++id)
      if (is_device_work(trace.kinds()[id])) own.push_back(id);
    merged.resize(work.activities.size() + own.size());
    std::ranges::merge(work.activities, own, merged.begin(), [&trace](EventId a, EventId b) {
      return trace.starts()[a] != trace.starts()[b] ? trace.starts()[a] < trace.starts()[b] : a < b;
    });
    work.activities.swap(merged);
  }
  work.launches.reserve(work.activities.size());
  for (EventId id : work.activities)
    work.launches.push_back(launches.find(trace.correlations()[id], trace.starts()[id]));
  return work;
}

void index_process(const Trace& trace, ProcessIndex& index) {
  std::vector<std::pair<EventId, EventId>> rows;
  for (const HostThread& thread : index.threads) rows.emplace_back(thread.first, thread.last);
  const LaunchTable launches(trace, rows);
  index.has_device_calls = launches.has_device_calls();

  std::vector<std::pair<int32_t, std::vector<TrackId>>> streams;
  for (TrackId id = 0; id < trace.tracks.size(); ++id) {
    const Track& track = trace.tracks[id];
    if (track.process != index.process || track.kind != TrackKind::stream) continue;
    const auto found =
        std::ranges::find(streams, track.device, &std::pair<int32_t, std::vector<TrackId>>::first);
    if (found != streams.end())
      found->second.push_back(id);
    else
      streams.push_back({track.device, {id}});
  }
  std::ranges::sort(streams);
  for (const auto& [device, tracks] : streams) {
    DeviceWork work = collect_device(trace, device, tracks, launches);
    if (!work.activities.empty()) index.devices.push_back(std::move(work));
  }

  for (const DeviceWork& work : index.devices) {
    for (size_t i = 0; i < work.activities.size(); ++i) {
      const EventId call = work.launches[i];
      if (call == kNoEvent || trace.kinds()[work.activities[i]] != EventKind::memcpy) continue;
      if (blocked_by_copy(trace, work.activities[i], call))
        index.threads[index.thread_index(call)].blocking.push_back(
            {call, trace.starts()[call], trace.end(call)});
    }
  }
  for (HostThread& thread : index.threads) drop_nested(thread.blocking);
}

}  // namespace

bool is_device_activity(const Trace& trace, EventId id) {
  return is_device_work(trace.kinds()[id]) &&
         trace.tracks[trace.tracks_of_events()[id]].kind == TrackKind::stream;
}

std::string_view host_memory(const Trace& trace, EventId copy) {
  for (const Key key : {kKeySourceMemory, kKeyTargetMemory}) {
    const std::string_view memory = trace.text_field(copy, key);
    if (memory == "pageable" || memory == "pinned") return memory;
  }
  const std::string_view name = trace.name(copy);
  if (name.find("Pageable") != std::string_view::npos) return "pageable";
  if (name.find("Pinned") != std::string_view::npos) return "pinned";
  return {};
}

const HostThread* ProcessIndex::thread_of(EventId id) const {
  const uint32_t at = thread_index(id);
  return at == kNoIndex ? nullptr : &threads[at];
}

std::vector<ProcessIndex> index_processes(const Trace& trace, const std::vector<uint8_t>& natures) {
  std::vector<ProcessIndex> processes(trace.processes.size());
  std::vector<HostThread*> threads;
  for (uint32_t i = 0; i < processes.size(); ++i) {
    processes[i].trace = &trace;
    processes[i].process = i;
    processes[i].thread_of_track.assign(trace.tracks.size(), kNoIndex);
  }
  for (TrackId id = 0; id < trace.tracks.size(); ++id) {
    if (trace.tracks[id].kind != TrackKind::thread) continue;
    ProcessIndex& index = processes[trace.tracks[id].process];
    index.thread_of_track[id] = static_cast<uint32_t>(index.threads.size());
    HostThread thread;
    thread.track = id;
    std::tie(thread.first, thread.last) = trace.rows(id);
    index.threads.push_back(std::move(thread));
  }
  for (ProcessIndex& index : processes)
    for (HostThread& thread : index.threads) threads.push_back(&thread);
  parallel_for(threads.size(), [&](size_t i) { index_thread(trace, natures, *threads[i]); });
  parallel_for(processes.size(), [&](size_t i) { index_process(trace, processes[i]); });
  return processes;
}

}  // namespace stallscope
