// From a process's ticks to nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <span>
#include <vector>

#include "base/units.h"
#include "trace/segment_format.h"

namespace stallscope {

/// Straight lines between clock points; beyond them the nearest line goes on.
class SegmentClock {
 public:
  /// Points that contradict each other (damage) are left out.
  SegmentClock(segment::ClockSource source, std::span<const segment::ClockPoint> points);

  Ns from_ticks(uint64_t ticks);
  /// A duration of at most some seconds that begins at `start_ticks`.
  Ns duration(uint64_t start_ticks, uint64_t ticks);
  /// From CLOCK_REALTIME, which device records use.
  Ns from_realtime(int64_t realtime_ns) const;
  double ns_per_tick() const;

  /// The largest error to be expected, ns: how far each point lies from the line
  /// between its neighbours, and how long its readings took. -1 when unknown.
  double residual_ns() const { return residual_ns_; }
  size_t points() const { return points_.size(); }
  size_t contradictions() const { return contradictions_; }

 private:
  const segment::ClockPoint& base_of(uint64_t ticks);

  bool identity_;  // ticks are CLOCK_MONOTONIC already
  std::vector<segment::ClockPoint> points_;
  std::vector<double> slope_;  // of the line that begins at each point
  size_t last_ = 0;
  double residual_ns_ = -1;
  size_t contradictions_ = 0;
};

}  // namespace stallscope
