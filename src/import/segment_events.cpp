#include "import/segment_events.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

namespace stallscope {
namespace {

using segment::RecordKind;

constexpr std::string_view kAnnotationDomain = "stallscope";
constexpr std::string_view kSchemaPrefix = "stallscope.";

std::optional<EventKind> kind_named(std::string_view name) {
  for (int kind = 0; kind < kEventKinds; ++kind)
    if (to_string(static_cast<EventKind>(kind)) == name) return static_cast<EventKind>(kind);
  return std::nullopt;
}

// The detail whose name an enum of annotate.h gave; 0 when it is not known.
uint8_t detail_named(EventKind kind, std::string_view name) {
  for (uint8_t detail = 0; detail < 32; ++detail) {
    const std::string_view known = detail_name(kind, detail);
    if (known.empty()) return 0;
    if (known == name) return detail;
  }
  return 0;
}

bool lies_on_stream(EventKind kind) {
  return is_device_work(kind) || kind == EventKind::event_record || kind == EventKind::stream_wait;
}

// Fields of annotate.h for which 0 means unknown, or not so.
constexpr std::array kZeroIsUnknown = {kKeyGroup,       kKeySequence, kKeyEvent,
                                       kKeyEventRecord, kKeyGraph,    kKeyElements,
                                       kKeyWorldSize,   kKeyModelled, kKeyWakerTid};

bool says_nothing(const Field& field) {
  if (field.type != Field::Type::integer) return false;
  if (field.key == kKeyPeer) return field.integer < 0;
  return field.integer == 0 && std::ranges::find(kZeroIsUnknown, field.key) != kZeroIsUnknown.end();
}

// The fields of NCCL's ranges, by how its versions name them in the schemas they register.
constexpr std::pair<std::string_view, Key> kNcclFields[] = {
    {"communicator", kKeyGroup}, {"bytes", kKeyBytes},
    {"message size", kKeyBytes}, {"no. of ranks", kKeyWorldSize},
    {"nranks", kKeyWorldSize},   {"peer", kKeyPeer},
    {"root", kKeyPeer}};

void rename_nccl_fields(const Trace& trace, std::vector<Field>& fields) {
  for (Field& field : fields) {
    const std::string name = lower(trace.text(field.key));
    for (const auto& [part, key] : kNcclFields)
      if (field.type == Field::Type::integer && name.find(part) != std::string::npos) {
        field.key = key;
        break;
      }
  }
}

}  // namespace

TrackId SegmentEvents::thread_track(uint32_t tid) {
  const auto found = thread_tracks_.find(tid);
  if (found != thread_tracks_.end()) return found->second;
  const TrackId track = trace_.track(process_, TrackKind::thread, -1, tid);
  const auto name = definitions_.thread_names.find(tid);
  if (name != definitions_.thread_names.end()) trace_.tracks[track].name = name->second;
  thread_tracks_[tid] = track;
  return track;
}

void SegmentEvents::push(const Event& event) {
  trace_.add(event);
  ++count_;
}

PayloadId SegmentEvents::store_fields(const RecordView& record, StringId args) {
  const bool plain = payload_.fields.empty() && args == 0;
  const uint64_t key = static_cast<uint64_t>(record.head.detail) << 32 | record.context.category;
  if (plain) {
    const auto known = plain_payloads_.find(key);
    if (known != plain_payloads_.end()) return known->second;
  }
  if (args != 0) payload_.fields.push_back(Field::of_text(kKeyArgs, args));
  if (const StringId domain = definitions_.domain(record.head.detail))
    payload_.fields.push_back(Field::of_text(kKeyDomain, domain));
  if (record.context.category != 0) {
    const StringId name = definitions_.category(record.head.detail, record.context.category);
    payload_.fields.push_back(name != 0 ? Field::of_text(kKeyCategory, name)
                                        : Field::of_integer(kKeyCategory, record.context.category));
  }
  const PayloadId id = trace_.add_payload(payload_.fields);
  if (plain) plain_payloads_[key] = id;
  return id;
}

// An event of annotate.h: the schema names its kind, its fields the rest.
void SegmentEvents::apply_schema(Event& event, std::string_view schema) {
  const std::optional<EventKind> kind = kind_named(schema.substr(kSchemaPrefix.size()));
  if (!kind) return;
  event.kind = *kind;
  int64_t device = -1, stream = 0;
  std::vector<Field> kept;
  for (const Field& field : payload_.fields) {
    const std::string_view key = trace_.text(field.key);
    if (key == "stallscope.stack" || says_nothing(field)) continue;
    if (key == "call" || key == "copy" || key == "sync" || key == "op") {
      if (field.type == Field::Type::text)
        event.detail = detail_named(event.kind, trace_.text(field.text));
      continue;
    }
    if (key == "release") {
      event.detail =
          static_cast<uint8_t>(field.integer != 0 ? AllocKind::release : AllocKind::allocate);
      continue;
    }
    if (key == "correlation") {
      event.correlation = static_cast<uint32_t>(field.integer);
      continue;
    }
    if (field.key == kKeyDevice) device = field.integer;
    if (field.key == kKeyStream) stream = field.integer;
    const bool place = field.key == kKeyDevice || field.key == kKeyStream;
    if (place && (lies_on_stream(event.kind) || device < 0)) continue;
    kept.push_back(field);
  }
  if (lies_on_stream(event.kind) && device >= 0)
    event.track = trace_.track(process_, TrackKind::stream, static_cast<int32_t>(device), stream);
  payload_.fields = std::move(kept);
}

Event SegmentEvents::describe(const RecordView& record, uint32_t tid, bool instant) {
  decode_payload(record, definitions_, trace_, payload_);
  Event event;
  event.kind = instant ? EventKind::marker : EventKind::range;
  event.track = thread_track(tid);
  SplitName name = definitions_.name(record.head.name);
  const size_t text_begin = (static_cast<size_t>(record.head.payload_bytes) + 7) / 8 * 8;
  if (record.head.text_bytes > 0 && text_begin + record.head.text_bytes <= record.body.size()) {
    std::string whole(definitions_.text(record.head.name));
    whole.append(reinterpret_cast<const char*>(record.body.data()) + text_begin,
                 record.head.text_bytes);
    name = split_name(trace_.strings, whole);
  } else if (record.head.name == 0 && payload_.message != 0) {
    name = split_name(trace_.strings, trace_.text(payload_.message));
  }
  event.name = name.stem;
  event.stack = definitions_.stack(record.context.stack, symbolizer_);
  const bool announced = payload_.schema != nullptr &&
                         payload_.schema->name.starts_with(kSchemaPrefix) &&
                         trace_.text(definitions_.domain(record.head.detail)) == kAnnotationDomain;
  if (announced) {
    apply_schema(event, payload_.schema->name);
    if (name.args != 0) payload_.fields.push_back(Field::of_text(kKeyArgs, name.args));
    event.payload = trace_.add_payload(payload_.fields);
  } else {
    if (!payload_.fields.empty() && trace_.text(definitions_.domain(record.head.detail)) == "NCCL")
      rename_nccl_fields(trace_, payload_.fields);
    event.payload = store_fields(record, name.args);
  }
  return event;
}

void SegmentEvents::add_range(const RecordView& record, uint32_t tid, bool instant) {
  Event event = describe(record, tid, instant);
  event.start = clock_.from_ticks(record.head.start);
  if (!instant) {
    event.duration = std::max<Ns>(0, clock_.duration(record.head.start, record.duration));
    last_range_[tid] = {record.head.start, record.head.name, record.head.detail};
    ++ranges_;
  }
  last_ticks_ = std::max(last_ticks_, record.head.start + (instant ? 0 : record.duration));
  if (event.kind != EventKind::collective || trace_.tracks[event.track].kind != TrackKind::thread)
    push(event);
  else if (const std::optional<Event> complete = collective_waits_.next(event))
    push(*complete);
}

void SegmentEvents::add_event(const RecordView& record, uint32_t tid) {
  const auto kind =
      static_cast<uint8_t>(record.head.kind) - static_cast<uint8_t>(RecordKind::event);
  Event event;
  event.kind = static_cast<EventKind>(kind);
  event.detail = record.head.detail;
  event.correlation = record.head.correlation;
  event.stack = definitions_.stack(record.context.stack, symbolizer_);
  event.name = definitions_.name(record.head.name).stem;
  if (event.kind == EventKind::kernel) event.name = runtime_names_.kernel(trace_, event.name);
  if (event.kind == EventKind::api && event.detail == 0) {
    const RuntimeNames::Call call = runtime_names_.call(trace_, event.name);
    event.name = call.name;
    event.detail = call.detail;
  }
  if ((record.head.flags & segment::kRealtime) != 0) {
    event.start = clock_.from_realtime(static_cast<int64_t>(record.head.start));
    event.duration = static_cast<Ns>(record.duration & INT64_MAX);
  } else {
    event.start = clock_.from_ticks(record.head.start);
    event.duration = std::max<Ns>(0, clock_.duration(record.head.start, record.duration));
    last_ticks_ = std::max(last_ticks_, record.head.start + record.duration);
  }
  const SegmentLane* lane = record.tail.tail == 0 ? nullptr : definitions_.lane(record.tail.tail);
  if (lane == nullptr)
    event.track = thread_track(tid);
  else if (lane->device < 0)  // a host thread that another thread reports about
    event.track = thread_track(static_cast<uint32_t>(lane->stream));
  else
    event.track =
        trace_.track(process_, TrackKind::stream, lane->device, static_cast<int64_t>(lane->stream));
  payload_.clear();
  auto rest = record.body;
  while (rest.size() >= sizeof(segment::EventField)) {
    segment::EventField field{};
    std::memcpy(&field, rest.data(), sizeof field);
    rest = rest.subspan(sizeof field);
    if (field.key == kKeyNone || field.key >= kKeyCount_) continue;
    uint64_t wide = field.value;
    const auto type = static_cast<segment::FieldType>(field.type);
    if (type == segment::FieldType::signed_64 || type == segment::FieldType::real) {
      if (rest.size() < sizeof wide) break;
      std::memcpy(&wide, rest.data(), sizeof wide);
      rest = rest.subspan(sizeof wide);
    }
    switch (type) {
      case segment::FieldType::unsigned_32:
      case segment::FieldType::signed_64:
        payload_.fields.push_back(Field::of_integer(field.key, static_cast<int64_t>(wide)));
        break;
      case segment::FieldType::signed_32:
        payload_.fields.push_back(Field::of_integer(field.key, static_cast<int32_t>(field.value)));
        break;
      case segment::FieldType::text:
        payload_.fields.push_back(
            Field::of_text(field.key, trace_.strings.intern(definitions_.text(field.value))));
        break;
      case segment::FieldType::real: {
        double real = 0;
        std::memcpy(&real, &wide, sizeof real);
        payload_.fields.push_back(Field::of_real(field.key, real));
        break;
      }
      default:
        break;
    }
  }
  if (lane != nullptr && lane->context != 0)
    payload_.fields.push_back(Field::of_integer(kKeyContext, lane->context));
  if (const StringId args = definitions_.name(record.head.name).args)
    payload_.fields.push_back(Field::of_text(kKeyArgs, args));
  event.payload = trace_.add_payload(payload_.fields);
  if (static_cast<ApiCall>(event.detail) == ApiCall::event_record && event.kind == EventKind::api)
    record_calls_[event.correlation] = event.start;
  // CUPTI's record of a recorded event has no time of its own: it is its call's.
  if (event.kind == EventKind::event_record && record.head.start == 0)
    untimed_.push_back(event);
  else
    push(event);
}

bool SegmentEvents::add(const RecordView& record, uint32_t tid) {
  switch (record.head.kind) {
    case RecordKind::range:
      add_range(record, tid, false);
      return true;
    case RecordKind::mark:
      add_range(record, tid, true);
      return true;
    case RecordKind::range_start:
      started_.push_back(
          {record.head.duration, tid, record.head.start, describe(record, tid, false)});
      last_ticks_ = std::max(last_ticks_, record.head.start);
      return true;
    case RecordKind::range_end:
      decode_payload(record, definitions_, trace_, payload_);
      ended_.push_back({record.head.duration, record.head.start, payload_.fields});
      last_ticks_ = std::max(last_ticks_, record.head.start);
      return true;
    default: {
      const int kind = static_cast<int>(record.head.kind) - static_cast<int>(RecordKind::event);
      if (kind < 0 || kind >= kEventKinds) return false;
      add_event(record, tid);
      return true;
    }
  }
}

void SegmentEvents::add_open(const RecordView& record, uint32_t tid) {
  if (record.head.kind != RecordKind::range) return;
  // Killed between writing the ended range and taking it off the open ones.
  const auto last = last_range_.find(tid);
  if (last != last_range_.end() && last->second.start == record.head.start &&
      last->second.name == record.head.name && last->second.domain == record.head.detail)
    return;
  last_ticks_ = std::max(last_ticks_, record.head.start);
  open_.emplace_back(record.head.start, describe(record, tid, false));
}

void SegmentEvents::finish() {
  const auto order = [](const auto& a, const auto& b) {
    return a.number != b.number ? a.number < b.number : a.ticks < b.ticks;
  };
  std::ranges::sort(started_, order);
  std::ranges::sort(ended_, order);
  size_t end = 0;
  for (Started& start : started_) {
    while (end < ended_.size() &&
           (ended_[end].number < start.number ||
            (ended_[end].number == start.number && ended_[end].ticks < start.ticks))) {
      ++end;
      ++unmatched_ends_;
    }
    if (end == ended_.size() || ended_[end].number != start.number) {
      open_.emplace_back(start.ticks, start.event);
      continue;
    }
    start.event.start = clock_.from_ticks(start.ticks);
    start.event.duration =
        std::max<Ns>(0, clock_.from_ticks(ended_[end].ticks) - start.event.start);
    if (!ended_[end].fields.empty()) {
      const auto begun = trace_.payload(start.event.payload);
      std::vector<Field> fields(begun.begin(), begun.end());
      fields.insert(fields.end(), ended_[end].fields.begin(), ended_[end].fields.end());
      start.event.payload = trace_.add_payload(fields);
    }
    ++ranges_;
    push(start.event);
    ++end;
  }
  unmatched_ends_ += ended_.size() - end;
  const Ns last = clock_.from_ticks(last_ticks_);
  for (auto& [ticks, event] : open_) {
    event.start = clock_.from_ticks(ticks);
    event.duration = std::max<Ns>(0, last - event.start);
    push(event);
  }
  unclosed_ = open_.size();
  for (const Event& event : collective_waits_.rest()) push(event);
  for (Event& event : untimed_) {
    const auto call = record_calls_.find(event.correlation);
    if (call == record_calls_.end()) continue;
    event.start = call->second;
    push(event);
  }
}

}  // namespace stallscope
