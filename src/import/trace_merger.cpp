#include "import/trace_merger.h"

#include <algorithm>

namespace stallscope {

void TraceMerger::add(Event event, uint32_t process, std::span<const Field> more) {
  event.track = track(event.track, process);
  event.name = text(event.name);
  event.stack = stack(event.stack);
  event.payload = payload(event.payload);
  if (!more.empty()) {
    const auto own = into_.payload(event.payload);
    std::vector<Field> fields(own.begin(), own.end());
    for (const Field& field : more) {
      const auto known = std::ranges::find(fields, field.key, &Field::key);
      if (known == fields.end())
        fields.push_back(field);
      else
        *known = field;
    }
    event.payload = into_.add_payload(fields);
  }
  into_.add(event);
}

std::optional<uint32_t> TraceMerger::process_of(TrackId id) const {
  const Process& from = from_.processes[from_.tracks[id].process];
  const auto found = std::ranges::find(into_.processes, from.pid, &Process::pid);
  if (found != into_.processes.end()) return static_cast<uint32_t>(found - into_.processes.begin());
  // Inside a container a process has another number than outside: then its rank tells, where
  // one process only has it.
  const auto is_rank = [&](const Process& process) { return process.rank == from.rank; };
  if (from.rank < 0 || from.world_size < 2 || std::ranges::count_if(into_.processes, is_rank) != 1)
    return std::nullopt;
  return static_cast<uint32_t>(std::ranges::find_if(into_.processes, is_rank) -
                               into_.processes.begin());
}

TrackId TraceMerger::track(TrackId id, uint32_t process) {
  if (tracks_[id]) return *tracks_[id];
  const Track& track = from_.tracks[id];
  const TrackId own = into_.track(process, track.kind, track.device, track.id);
  if (into_.tracks[own].name == 0) into_.tracks[own].name = text(track.name);
  tracks_[id] = own;
  return own;
}

StringId TraceMerger::text(StringId id) {
  if (id == 0) return 0;
  const auto [known, added] = texts_.try_emplace(id, 0);
  if (added) known->second = into_.strings.intern(from_.text(id));
  return known->second;
}

StackId TraceMerger::stack(StackId id) {
  if (id == 0) return 0;
  if (stacks_[id]) return *stacks_[id];
  std::vector<FrameId> frames;
  for (const FrameId frame_id : from_.stack(id)) {
    Frame frame = from_.frame(frame_id);
    frame.function = text(frame.function);
    frame.file = text(frame.file);
    frame.module = text(frame.module);
    frames.push_back(into_.add_frame(frame));
  }
  stacks_[id] = into_.add_stack(frames);
  return *stacks_[id];
}

PayloadId TraceMerger::payload(PayloadId id) {
  if (id == 0) return 0;
  const auto [known, added] = payloads_.try_emplace(id, 0);
  if (!added) return known->second;
  std::vector<Field> fields;
  for (Field field : from_.payload(id)) {
    if (field.key >= kKeyCount_) field.key = text(field.key);
    if (field.type == Field::Type::text) field.text = text(field.text);
    fields.push_back(field);
  }
  return known->second = into_.add_payload(fields);
}

}  // namespace stallscope
