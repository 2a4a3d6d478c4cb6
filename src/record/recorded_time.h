// Whether a process's events are being kept now: --delay, --duration, --steps and --capture bound
// what the recorder sees from outside as they bound what the library inside the program sees.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"

namespace stallscope {

/// What of a run is to be recorded. All of it by default.
struct RecordingBounds {
  Ns delay = 0, duration = 0;  ///< duration 0 = to the end
  bool by_program = false;     ///< its steps, ranges or calls decide
  bool any() const { return delay > 0 || duration > 0 || by_program; }
};

/// One thread's view of it. The library counts from a process's first event and says in its segment
/// what holds; a process without one goes with those that have one, else by the time of the run.
class RecordedTime {
 public:
  RecordedTime(std::string folder, const RecordingBounds& bounds);
  ~RecordedTime();
  RecordedTime(const RecordedTime&) = delete;
  RecordedTime& operator=(const RecordedTime&) = delete;

  /// Looks for segments of processes that have come, and forgets those that have gone.
  void find_segments(const std::vector<pid_t>& processes);
  /// Reads what holds at `now`.
  void look(Ns now);
  bool holds(pid_t process) const;

 private:
  struct Segment;
  std::string folder_;
  RecordingBounds bounds_;
  Ns begin_, end_;
  std::map<pid_t, std::unique_ptr<Segment>> segments_;
  bool others_ = true;  ///< for processes without a segment
};

}  // namespace stallscope
