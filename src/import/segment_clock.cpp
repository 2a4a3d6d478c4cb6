#include "import/segment_clock.h"

#include <algorithm>
#include <cmath>

namespace stallscope {
namespace {

// A time-stamp counter runs between 10 MHz and 10 GHz; anything else is damage.
constexpr double kLeastSlope = 0.1, kMostSlope = 100;
// With one point only there is no line: take a counter of 1 tick per ns.
constexpr double kUnknownSlope = 1;

double slope_between(const segment::ClockPoint& a, const segment::ClockPoint& b) {
  return static_cast<double>(b.monotonic_ns - a.monotonic_ns) /
         static_cast<double>(b.ticks - a.ticks);
}

// Signed distance without overflow for damaged input.
double distance(uint64_t from, uint64_t to) {
  return to >= from ? static_cast<double>(to - from) : -static_cast<double>(from - to);
}

Ns to_ns(double value) {
  constexpr double kMost = 9.0e18;
  return static_cast<Ns>(std::clamp(value, -kMost, kMost));
}

// Exact for the offsets that occur; clamped for those that only damage makes.
Ns add(int64_t base, double offset) {
  const double sum = static_cast<double>(base) + offset;
  if (std::fabs(sum) > 9.0e18 || std::fabs(offset) > 9.0e18) return to_ns(sum);
  return base + static_cast<Ns>(std::llround(offset));
}

}  // namespace

SegmentClock::SegmentClock(segment::ClockSource source, std::span<const segment::ClockPoint> points)
    : identity_(source == segment::ClockSource::monotonic) {
  for (const segment::ClockPoint& point : points) {
    if (point.monotonic_ns < 0 || point.monotonic_ns > INT64_MAX / 4) {
      ++contradictions_;
      continue;
    }
    if (!points_.empty()) {
      const segment::ClockPoint& before = points_.back();
      if (point.ticks <= before.ticks || point.monotonic_ns <= before.monotonic_ns) {
        ++contradictions_;
        continue;
      }
      const double slope = slope_between(before, point);
      if (slope < kLeastSlope || slope > kMostSlope) {
        ++contradictions_;
        continue;
      }
    }
    points_.push_back(point);
  }
  slope_.assign(points_.size(), kUnknownSlope);
  for (size_t i = 0; i + 1 < points_.size(); ++i)
    slope_[i] = slope_between(points_[i], points_[i + 1]);
  if (points_.size() > 1) slope_.back() = slope_[points_.size() - 2];
  if (points_.empty()) return;
  double residual = 0;
  for (size_t i = 0; i < points_.size(); ++i) {
    residual = std::max(residual, static_cast<double>(points_[i].width_ns) / 2);
    if (i == 0 || i + 1 >= points_.size()) continue;
    const double slope = slope_between(points_[i - 1], points_[i + 1]);
    const double expected = static_cast<double>(points_[i - 1].monotonic_ns) +
                            distance(points_[i - 1].ticks, points_[i].ticks) * slope;
    residual =
        std::max(residual, std::fabs(expected - static_cast<double>(points_[i].monotonic_ns)));
  }
  residual_ns_ = identity_ ? 0 : points_.size() > 1 ? residual : -1;
}

const segment::ClockPoint& SegmentClock::base_of(uint64_t ticks) {
  const bool fits = ticks >= points_[last_].ticks &&
                    (last_ + 1 == points_.size() || ticks < points_[last_ + 1].ticks);
  if (!fits) {
    const auto after = std::ranges::upper_bound(points_, ticks, {}, &segment::ClockPoint::ticks);
    last_ = after == points_.begin() ? 0 : static_cast<size_t>(after - points_.begin()) - 1;
  }
  return points_[last_];
}

Ns SegmentClock::from_ticks(uint64_t ticks) {
  if (identity_) return static_cast<Ns>(ticks & INT64_MAX);
  if (points_.empty()) return to_ns(static_cast<double>(ticks));
  const segment::ClockPoint& base = base_of(ticks);
  return add(base.monotonic_ns, distance(base.ticks, ticks) * slope_[last_]);
}

Ns SegmentClock::duration(uint64_t start_ticks, uint64_t ticks) {
  if (identity_) return static_cast<Ns>(ticks & INT64_MAX);
  if (points_.empty()) return to_ns(static_cast<double>(ticks));
  base_of(start_ticks);
  return to_ns(std::round(static_cast<double>(ticks) * slope_[last_]));
}

Ns SegmentClock::from_realtime(int64_t realtime_ns) const {
  if (points_.empty()) return realtime_ns;
  const auto after =
      std::ranges::upper_bound(points_, realtime_ns, {}, &segment::ClockPoint::realtime_ns);
  const segment::ClockPoint& base = after == points_.begin() ? points_.front() : *(after - 1);
  // In integers: a double holds nanoseconds since 1970 only to 256.
  const auto offset = static_cast<int64_t>(static_cast<uint64_t>(realtime_ns) -
                                           static_cast<uint64_t>(base.realtime_ns));
  return add(base.monotonic_ns, static_cast<double>(offset));
}

double SegmentClock::ns_per_tick() const {
  if (identity_) return 1;
  if (points_.size() < 2) return points_.empty() ? kUnknownSlope : slope_.front();
  return slope_between(points_.front(), points_.back());
}

}  // namespace stallscope
