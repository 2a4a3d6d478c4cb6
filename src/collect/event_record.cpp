#include "collect/event_record.h"

#include <string.h>

#include "collect/capture.h"
#include "collect/definitions.h"

namespace stallscope::collect {
namespace {

using segment::EventField;
using segment::FieldType;

struct KnownLane {
  int32_t device;
  uint32_t context;
  uint64_t stream;
};
constexpr uint32_t kMaxLanes = 4096;
KnownLane g_lanes[kMaxLanes];  // lane numbers count from 1
uint32_t g_lane_count = 0;

uint32_t find_lane(uint32_t count, int32_t device, uint32_t context, uint64_t stream) {
  for (uint32_t index = 0; index < count; ++index) {
    const KnownLane& lane = g_lanes[index];
    if (lane.stream == stream && lane.device == device && lane.context == context) return index + 1;
  }
  return 0;
}

}  // namespace

EventRecord::EventRecord(EventKind kind, uint8_t detail) : kind_(kind), detail_(detail) {}

void EventRecord::set_realtime(uint64_t start_ns, uint64_t end_ns) {
  flags_ |= segment::kRealtime;
  set_ticks(start_ns, end_ns);
}

void EventRecord::set_ticks(uint64_t start, uint64_t end) {
  start_ = start;
  duration_ = end > start ? end - start : 0;
}

void EventRecord::add(Key key, int64_t value) {
  if (fields_ == kMaxFields) return;
  const bool fits = value >= 0 && value <= UINT32_MAX;
  const EventField field{static_cast<uint16_t>(key),
                         static_cast<uint8_t>(fits ? FieldType::unsigned_32 : FieldType::signed_64),
                         0, fits ? static_cast<uint32_t>(value) : 0};
  memcpy(&field_words_[words_++], &field, sizeof field);
  if (!fits) memcpy(&field_words_[words_++], &value, sizeof value);
  ++fields_;
}

void EventRecord::add_text(Key key, uint32_t string_number) {
  if (fields_ == kMaxFields || string_number == 0) return;
  const EventField field{static_cast<uint16_t>(key), static_cast<uint8_t>(FieldType::text), 0,
                         string_number};
  memcpy(&field_words_[words_++], &field, sizeof field);
  ++fields_;
}

bool EventRecord::write() const {
  Thread* thread = this_thread();
  if (thread == nullptr) return false;
  const bool told_later = (flags_ & segment::kRealtime) != 0;
  if (told_later ? !was_recording(static_cast<int64_t>(start_)) : is_paused()) return true;
  const bool long_duration = duration_ > UINT32_MAX;
  const size_t field_bytes = static_cast<size_t>(words_) * sizeof(uint64_t);
  const size_t bytes = round_up(sizeof(segment::Record) + (long_duration ? sizeof(uint64_t) : 0) +
                                    (stack != 0 ? sizeof(segment::Context) : 0) + field_bytes +
                                    sizeof(segment::Tail),
                                segment::kUnit);
  uint8_t* const place = reserve(*thread, bytes);
  if (place == nullptr) return false;

  segment::Record head{};
  head.kind = static_cast<segment::RecordKind>(static_cast<uint8_t>(segment::RecordKind::event) +
                                               static_cast<uint8_t>(kind_));
  head.units = static_cast<uint8_t>(bytes / segment::kUnit);
  head.flags = static_cast<uint8_t>(flags_ | (long_duration ? segment::kLongDuration : 0) |
                                    (stack != 0 ? segment::kContext : 0));
  head.detail = detail_;
  head.name = name;
  head.start = start_;
  head.duration = long_duration ? 0 : static_cast<uint32_t>(duration_);
  head.correlation = correlation;

  uint8_t* cursor = place;
  const auto append = [&cursor](const void* data, size_t size) {
    memcpy(cursor, data, size);
    cursor += size;
  };
  append(&head, sizeof head);
  if (long_duration) append(&duration_, sizeof duration_);
  if (stack != 0) {
    const segment::Context context{stack, 0};
    append(&context, sizeof context);
  }
  append(field_words_, field_bytes);
  uint8_t* const tail = place + bytes - sizeof(segment::Tail);
  memset(cursor, 0, static_cast<size_t>(tail - cursor));
  memcpy(tail, &lane, sizeof lane);
  commit(*thread, place, bytes);
  return true;
}

uint32_t lane_number(int32_t device, uint32_t context, uint64_t stream) {
  // Entries are never changed once counted, so that readers need no lock.
  const uint32_t known = __atomic_load_n(&g_lane_count, __ATOMIC_ACQUIRE);
  if (const uint32_t number = find_lane(known, device, context, stream)) return number;
  Locked lock(g_session->number_lock);
  if (!lock) return 0;
  if (const uint32_t number = find_lane(g_lane_count, device, context, stream)) return number;
  if (g_lane_count == kMaxLanes) return 0;
  const uint32_t number = g_lane_count + 1;
  segment::Record head{};
  head.kind = segment::RecordKind::lane;
  head.start = stream;
  const segment::Lane lane{device, context, stream};
  if (!define(head, &lane, sizeof lane, number)) return 0;
  g_lanes[g_lane_count] = {device, context, stream};
  __atomic_store_n(&g_lane_count, number, __ATOMIC_RELEASE);
  return number;
}

}  // namespace stallscope::collect
