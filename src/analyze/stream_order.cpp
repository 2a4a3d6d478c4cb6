#include "analyze/stream_order.h"

#include <algorithm>

namespace stallscope {
namespace {

/// How far waits between streams are followed.
constexpr int kMaxDepth = 4;
/// How many of a stream's latest waits are looked at.
constexpr size_t kRecentWaits = 8;
/// How many rows before a call are searched for the copy or launch that tells its stream.
constexpr EventId kFarthestCall = 32;

}  // namespace

StreamOrder::StreamOrder(const ProcessIndex& index, const DeviceWork& work) : index_(index) {
  const Trace& trace = *index.trace;
  std::vector<std::vector<Item>*> items_of(trace.tracks.size(), nullptr);  // by track
  for (size_t i = 0; i < work.activities.size(); ++i) {
    const EventId id = work.activities[i], call = work.launches[i];
    const uint32_t track = trace.tracks_of_events()[id];
    if (items_of[track] == nullptr) items_of[track] = &streams_[trace.tracks[track].id];
    std::vector<Item>& items = *items_of[track];
    const Ns issued = call == kNoEvent ? trace.starts()[id] : trace.starts()[call];
    items.push_back({items.empty() ? issued : std::max(items.back().issued, issued), id});
    if (call != kNoEvent && trace.kinds()[id] == EventKind::memcpy) launched_.add(call, id);
  }
  launched_.sort();
  std::vector<EventId> waiting;
  for (EventId id = 0; id < trace.size(); ++id) {
    const EventKind kind = trace.kinds()[id];
    const bool is_record = kind == EventKind::sync || kind == EventKind::stream_wait ||
                           kind == EventKind::event_record;
    if (!is_record && kind != EventKind::api) continue;
    if (trace.tracks[trace.tracks_of_events()[id]].process != index.process) continue;
    if (is_record) {
      if (trace.correlations()[id] != 0) syncs_.add(trace.correlations()[id], id);
      continue;
    }
    const auto call = static_cast<ApiCall>(trace.details()[id]);
    if (call == ApiCall::event_record) {
      if (trace.correlations()[id] != 0) record_calls_.add(trace.correlations()[id], id);
      if (const auto handle = trace.integer(id, kKeyEvent)) records_[*handle].push_back(id);
    } else if (call == ApiCall::stream_wait) {
      waiting.push_back(id);
    }
  }
  syncs_.sort();
  record_calls_.sort();
  for (const EventId id : waiting)
    if (const auto stream = stream_of(id)) waits_[*stream].push_back({trace.starts()[id], id});
  for (auto& [stream, waits] : waits_) std::ranges::sort(waits, {}, &Wait::issued);
  for (auto& [handle, calls] : records_)
    std::ranges::sort(calls, {}, [&trace](EventId id) { return trace.starts()[id]; });
}

std::optional<int64_t> StreamOrder::stream_of(EventId call) const {
  const Trace& trace = *index_.trace;
  if (const auto stream = trace.integer(call, kKeyStream); stream && *stream >= 0) return stream;
  if (const EventId activity = launched_by(call); activity != kNoEvent)
    return trace.tracks[trace.tracks_of_events()[activity]].id;
  const EventId record = syncs_.find(trace.correlations()[call]);  // none has correlation 0
  if (record == kNoEvent) return std::nullopt;
  if (const auto stream = trace.integer(record, kKeyStream); stream && *stream >= 0) return stream;
  const Track& track = trace.tracks[trace.tracks_of_events()[record]];
  if (track.kind == TrackKind::stream && track.id >= 0) return track.id;
  return std::nullopt;
}

// The stream that a recorded wait waits for, where the trace names it.
std::optional<int64_t> StreamOrder::awaited_stream(EventId call) const {
  const EventId record = syncs_.find(index_.trace->correlations()[call]);
  if (record == kNoEvent) return std::nullopt;
  return index_.trace->integer(record, kKeyWaitStream);
}

EventId StreamOrder::later(EventId a, EventId b) const {
  if (a == kNoEvent || b == kNoEvent) return a == kNoEvent ? b : a;
  return index_.trace->end(b) > index_.trace->end(a) ? b : a;
}

// The record that an event wait or synchronisation refers to.
EventId StreamOrder::record_of(EventId call) const {
  const Trace& trace = *index_.trace;
  for (const EventId id : {call, syncs_.find(trace.correlations()[call])}) {
    if (id == kNoEvent) continue;
    if (const auto correlation = trace.integer(id, kKeyEventRecord);
        correlation && *correlation > 0) {
      const EventId record = record_calls_.find(static_cast<uint32_t>(*correlation));
      if (record != kNoEvent) return record;
    }
    const auto handle = trace.integer(id, kKeyEvent);
    const auto records = handle ? records_.find(*handle) : records_.end();
    if (records == records_.end()) continue;
    const auto after = std::ranges::upper_bound(records->second, trace.starts()[call], {},
                                                [&trace](EventId r) { return trace.starts()[r]; });
    if (after != records->second.begin()) return *std::prev(after);
  }
  return kNoEvent;
}

EventId StreamOrder::last_before(int64_t stream, Ns time, int depth) const {
  EventId found = kNoEvent;
  if (const auto items = streams_.find(stream); items != streams_.end()) {
    const auto after = std::ranges::lower_bound(items->second, time, {}, &Item::issued);
    if (after != items->second.begin()) found = std::prev(after)->activity;
  }
  const auto waits = waits_.find(stream);
  if (waits == waits_.end() || depth == 0) return found;
  const auto after = std::ranges::lower_bound(waits->second, time, {}, &Wait::issued);
  const auto count = std::min<size_t>(kRecentWaits, after - waits->second.begin());
  for (auto it = after - static_cast<std::ptrdiff_t>(count); it != after; ++it) {
    const EventId record = record_of(it->call);
    if (record == kNoEvent) continue;
    auto other = awaited_stream(it->call);
    if (!other || *other < 0) other = stream_of(record);
    if (other && *other != stream)
      found = later(found, last_before(*other, index_.trace->starts()[record], depth - 1));
  }
  return found;
}

EventId StreamOrder::waited_for(EventId call) const {
  const Trace& trace = *index_.trace;
  const Ns start = trace.starts()[call];
  const bool is_api = trace.kinds()[call] == EventKind::api;
  const auto kind = static_cast<ApiCall>(trace.details()[call]);
  EventId found = kNoEvent;
  std::optional<int64_t> stream = stream_of(call);
  Ns time = start;
  if (is_api && kind == ApiCall::event_sync) {
    if (const EventId record = record_of(call); record != kNoEvent) {
      time = trace.starts()[record];
      if (const auto recorded = stream_of(record)) stream = recorded;
      if (const auto awaited = awaited_stream(call); awaited && *awaited >= 0) stream = awaited;
    }
  } else if (is_api && (kind == ApiCall::device_sync || kind == ApiCall::free)) {
    stream.reset();
  } else if (is_api && kind == ApiCall::stream_sync && !stream) {
    // The copy or launch just before it on its thread most likely went to the same stream.
    const HostThread* thread = index_.thread_of(call);
    for (EventId id = call; id > thread->first && call - id < kFarthestCall && !stream;)
      if (trace.kinds()[--id] == EventKind::api) stream = stream_of(id);
  }
  if (stream) {
    found = last_before(*stream, time, kMaxDepth);
  } else {
    for (const auto& [each, items] : streams_) found = later(found, last_before(each, time, 0));
  }
  // A copy's own transfer is ordered last; what stood before it in the stream is the real cause.
  const EventId own = launched_by(call);
  if (own != kNoEvent && (found == kNoEvent || trace.end(found) <= start)) found = own;
  if (found == kNoEvent || trace.end(found) <= start) return kNoEvent;
  return found;
}

}  // namespace stallscope
