#include "trace/trace.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "base/parallel.h"

namespace stallscope {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);  // boost::hash_combine
  return hash * 0xff51afd7ed558ccdULL;                                // murmur3 finaliser
}

constexpr size_t kWorthThreads = 1 << 16;  // events; fewer are sorted before a thread has started

// Moves `column` into the order given by `rows`.
template <typename T>
void reorder(std::vector<T>& column, const std::vector<EventId>& rows) {
  std::vector<T> ordered(column.size());
  for (size_t i = 0; i < rows.size(); ++i) ordered[i] = column[rows[i]];
  column = std::move(ordered);
}

// Order within a track: by start, then longest first.
struct SortRow {
  Ns start, duration;
  EventId id;
  bool operator<(const SortRow& other) const {
    if (start != other.start) return start < other.start;
    if (duration != other.duration) return duration > other.duration;
    return id < other.id;
  }
};

// Sorts what consists of ordered runs, as a file does that writes one kind of event after the
// other, by merging neighbours; what does not, as usual.
void sort_runs(std::vector<SortRow>& rows) {
  constexpr size_t kShortRun = 32;  // on average; below, finding the runs does not pay
  std::vector<size_t> ends;
  for (size_t i = 1; i < rows.size(); ++i)
    if (rows[i] < rows[i - 1]) ends.push_back(i);
  ends.push_back(rows.size());
  if (ends.size() * kShortRun > rows.size()) {
    std::sort(rows.begin(), rows.end());
    return;
  }
  const auto at = [&rows](size_t i) { return rows.begin() + static_cast<std::ptrdiff_t>(i); };
  while (ends.size() > 1) {
    std::vector<size_t> merged;
    for (size_t i = 0; i < ends.size(); i += 2) {
      const size_t begin = merged.empty() ? 0 : merged.back();
      if (i + 1 < ends.size()) std::inplace_merge(at(begin), at(ends[i]), at(ends[i + 1]));
      merged.push_back(ends[std::min(i + 1, ends.size() - 1)]);
    }
    ends = std::move(merged);
  }
}

}  // namespace

Field Field::of_integer(StringId key, int64_t value) {
  Field field;
  field.key = key;
  field.integer = value;
  return field;
}
Field Field::of_real(StringId key, double value) {
  Field field;
  field.key = key;
  field.type = Type::real;
  field.real = value;
  return field;
}
Field Field::of_text(StringId key, StringId value) {
  Field field;
  field.key = key;
  field.type = Type::text;
  field.integer = 0;  // the whole union takes part in comparisons
  field.text = value;
  return field;
}
bool Field::operator==(const Field& other) const {
  return key == other.key && type == other.type && std::memcmp(&integer, &other.integer, 8) == 0;
}

Trace::Trace() : stack_begin_{0, 0}, payload_begin_{0, 0} {
  for (uint32_t key = 1; key < kKeyCount_; ++key) strings.intern(key_name(key));
}

uint32_t Trace::add_process(Process process) {
  processes.push_back(std::move(process));
  return static_cast<uint32_t>(processes.size() - 1);
}

TrackId Trace::track(uint32_t process, TrackKind kind, int32_t device, int64_t id) {
  const uint64_t hash =
      mix(mix(mix(process, static_cast<uint64_t>(kind)), static_cast<uint32_t>(device)),
          static_cast<uint64_t>(id));
  for (auto [it, last] = track_index_.equal_range(hash); it != last; ++it) {
    const Track& track = tracks[it->second];
    if (track.process == process && track.kind == kind && track.device == device && track.id == id)
      return it->second;
  }
  const auto added = static_cast<TrackId>(tracks.size());
  tracks.push_back({process, kind, device, id, 0});
  track_index_.emplace(hash, added);
  return added;
}

FrameId Trace::add_frame(const Frame& frame) {
  const uint64_t hash = mix(mix(mix(frame.function, frame.file), frame.module),
                            frame.line * 4ULL + static_cast<uint64_t>(frame.kind));
  for (auto [it, last] = frame_index_.equal_range(hash); it != last; ++it)
    if (frames_[it->second] == frame) return it->second;
  const auto added = static_cast<FrameId>(frames_.size());
  frames_.push_back(frame);
  frame_index_.emplace(hash, added);
  return added;
}

StackId Trace::add_stack(std::span<const FrameId> frames) {
  if (frames.empty()) return 0;
  uint64_t hash = frames.size();
  for (FrameId frame : frames) hash = mix(hash, frame);
  for (auto [it, last] = stack_index_.equal_range(hash); it != last; ++it)
    if (std::ranges::equal(stack(it->second), frames)) return it->second;
  const auto added = static_cast<StackId>(stack_begin_.size() - 1);
  stack_frames_.insert(stack_frames_.end(), frames.begin(), frames.end());
  stack_begin_.push_back(static_cast<uint32_t>(stack_frames_.size()));
  stack_index_.emplace(hash, added);
  return added;
}

PayloadId Trace::add_payload(std::span<const Field> fields) {
  if (fields.empty()) return 0;
  uint64_t hash = fields.size();
  for (const Field& field : fields)
    hash = mix(mix(hash, field.key), static_cast<uint64_t>(field.integer));
  for (auto [it, last] = payload_index_.equal_range(hash); it != last; ++it)
    if (std::ranges::equal(payload(it->second), fields)) return it->second;
  const auto added = static_cast<PayloadId>(payload_begin_.size() - 1);
  fields_.insert(fields_.end(), fields.begin(), fields.end());
  payload_begin_.push_back(static_cast<uint32_t>(fields_.size()));
  payload_index_.emplace(hash, added);
  return added;
}

void Trace::add(const Event& event) {
  kind_.push_back(event.kind);
  detail_.push_back(event.detail);
  start_.push_back(event.start);
  duration_.push_back(event.duration);
  track_.push_back(event.track);
  name_.push_back(event.name);
  correlation_.push_back(event.correlation);
  stack_.push_back(event.stack);
  payload_.push_back(event.payload);
}

void Trace::reserve(size_t events) {
  kind_.reserve(events);
  detail_.reserve(events);
  start_.reserve(events);
  duration_.reserve(events);
  track_.reserve(events);
  name_.reserve(events);
  correlation_.reserve(events);
  stack_.reserve(events);
  payload_.reserve(events);
}

void Trace::shift_times(Ns offset) {
  for (Ns& start : start_) start += offset;
}

void Trace::finish() {
  // Counting sort by track keeps each track's arrival order, which is nearly
  // the order of time, so that the sort within a track finds little to do.
  track_begin_.assign(tracks.size() + 1, 0);
  for (TrackId track : track_) ++track_begin_[track + 1];
  std::partial_sum(track_begin_.begin(), track_begin_.end(), track_begin_.begin());
  std::vector<EventId> next(track_begin_.begin(), track_begin_.end() - 1);
  std::vector<EventId> rows(size());
  for (EventId id = 0; id < size(); ++id) rows[next[track_[id]]++] = id;

  const auto before = [this](EventId a, EventId b) {
    if (start_[a] != start_[b]) return start_[a] < start_[b];
    if (duration_[a] != duration_[b]) return duration_[a] > duration_[b];
    return a < b;
  };
  const size_t workers = size() < kWorthThreads ? 1 : SIZE_MAX;
  // The longest tracks first, so that no core is left with one at the end.
  std::vector<TrackId> unsorted(tracks.size());
  std::iota(unsorted.begin(), unsorted.end(), TrackId{0});
  std::ranges::sort(unsorted, std::greater{}, [this](TrackId track) {
    return track_begin_[track + 1] - track_begin_[track];
  });
  parallel_for(
      unsorted.size(),
      [&](size_t i) {
        const auto first = rows.begin() + track_begin_[unsorted[i]],
                   last = rows.begin() + track_begin_[unsorted[i] + 1];
        if (std::is_sorted(first, last, before)) return;
        std::vector<SortRow>
            keys;  // beside each other: looking every key up would be most of the time
        keys.reserve(static_cast<size_t>(last - first));
        for (auto row = first; row != last; ++row)
          keys.push_back({start_[*row], duration_[*row], *row});
        sort_runs(keys);
        std::ranges::transform(keys, first, &SortRow::id);
      },
      workers);
  if (!std::is_sorted(rows.begin(), rows.end())) {
    const std::function<void()> columns[] = {
        [&] { reorder(kind_, rows); },   [&] { reorder(detail_, rows); },
        [&] { reorder(start_, rows); },  [&] { reorder(duration_, rows); },
        [&] { reorder(track_, rows); },  [&] { reorder(name_, rows); },
        [&] { reorder(stack_, rows); },  [&] { reorder(correlation_, rows); },
        [&] { reorder(payload_, rows); }};
    parallel_for(std::size(columns), [&](size_t i) { columns[i](); }, workers);
  }
  health.events = size();
}

Event Trace::event(EventId id) const {
  return {kind_[id], detail_[id],      start_[id], duration_[id], track_[id],
          name_[id], correlation_[id], stack_[id], payload_[id]};
}

std::string Trace::full_name(EventId id) const {
  std::string text(name(id));
  text += text_field(id, kKeyArgs);
  return text;
}

std::span<const FrameId> Trace::stack(StackId id) const {
  return {stack_frames_.data() + stack_begin_[id], stack_begin_[id + 1] - stack_begin_[id]};
}

std::span<const Field> Trace::payload(PayloadId id) const {
  return {fields_.data() + payload_begin_[id], payload_begin_[id + 1] - payload_begin_[id]};
}

const Field* Trace::field(EventId id, StringId key) const {
  for (const Field& field : payload(payload_[id]))
    if (field.key == key) return &field;
  return nullptr;
}

std::optional<int64_t> Trace::integer(EventId id, StringId key) const {
  const Field* found = field(id, key);
  if (found == nullptr || found->type == Field::Type::text) return std::nullopt;
  return found->type == Field::Type::integer ? found->integer : static_cast<int64_t>(found->real);
}

std::optional<double> Trace::number(EventId id, StringId key) const {
  const Field* found = field(id, key);
  if (found == nullptr || found->type == Field::Type::text) return std::nullopt;
  return found->type == Field::Type::real ? found->real : static_cast<double>(found->integer);
}

std::string_view Trace::text_field(EventId id, StringId key) const {
  const Field* found = field(id, key);
  return found != nullptr && found->type == Field::Type::text ? text(found->text)
                                                              : std::string_view{};
}

std::pair<EventId, EventId> Trace::rows(TrackId track) const {
  return {track_begin_[track], track_begin_[track + 1]};
}

}  // namespace stallscope
