#include "record/recorded_time.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "record/clock.h"
#include "record/own_process.h"
#include "record/segment_header.h"

namespace stallscope {

/// The segment that a process writes now: PID.ssg, PID-1.ssg once it has become another by exec.
struct RecordedTime::Segment {
  int file = -1;
  int number = 0;
  bool kept = true;

  Segment() = default;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() { close(); }

  void close() {
    if (file >= 0) ::close(file);
    file = -1;
  }

  void find(const std::string& stem) {
    const auto header = file < 0 ? std::nullopt : segment_header(file);
    if (header && header->state == segment::State::execed) {
      close();
      ++number;
    }
    if (file >= 0) return;
    file = open_to_keep(stem + (number > 0 ? "-" + std::to_string(number) : "") +
                        segment::kFileSuffix);
    if (file >= 0 && !segment_header(file)) close();  // it is still being made
  }

  void look() {
    uint32_t paused = 0;
    constexpr off_t kAt = offsetof(segment::FileHeader, paused);
    kept = ::pread(file, &paused, sizeof paused, kAt) != sizeof paused || paused == 0;
  }
};

RecordedTime::RecordedTime(std::string folder, const RecordingBounds& bounds)
    : folder_(std::move(folder)),
      bounds_(bounds),
      begin_(clock_now(CLOCK_MONOTONIC) + bounds.delay),
      end_(bounds.duration > 0 ? begin_ + bounds.duration : std::numeric_limits<Ns>::max()) {}

RecordedTime::~RecordedTime() = default;

void RecordedTime::find_segments(const std::vector<pid_t>& processes) {
  if (!bounds_.any()) return;
  std::erase_if(segments_, [&](const auto& segment) {
    return std::ranges::find(processes, segment.first) == processes.end();
  });
  for (const pid_t pid : processes) {
    std::unique_ptr<Segment>& segment = segments_[pid];
    if (!segment) segment = std::make_unique<Segment>();
    segment->find(folder_ + "/" + std::to_string(pid));
  }
}

void RecordedTime::look(Ns now) {
  if (!bounds_.any()) return;
  bool any = false, kept = false;
  for (auto& [pid, segment] : segments_) {
    if (segment->file < 0) continue;
    segment->look();
    any = true;
    kept = kept || segment->kept;
  }
  others_ = any ? kept : now >= begin_ && now < end_;
}

bool RecordedTime::holds(pid_t process) const {
  const auto own = segments_.find(process);
  return own == segments_.end() || own->second->file < 0 ? others_ : own->second->kept;
}

}  // namespace stallscope
