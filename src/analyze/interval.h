// Interval algebra on sorted, disjoint, half-open intervals of nanoseconds.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/units.h"

namespace stallscope {

/// [start, end)
struct Interval {
  Ns start = 0;
  Ns end = 0;
  Ns length() const { return end - start; }
  bool operator==(const Interval&) const = default;
};

/// Sorted by start, disjoint, none empty (but see UnionBuilder::add_even_empty).
using Intervals = std::vector<Interval>;

/// Grows a union from intervals that come ordered by start. Touching ones join.
class UnionBuilder {
 public:
  void add(Ns start, Ns end) {
    if (end > start) add_even_empty(start, end);
  }
  /// Keeps an interval of no length as an instant that splits what lies around it.
  void add_even_empty(Ns start, Ns end) {
    if (!intervals_.empty() && start <= intervals_.back().end)
      intervals_.back().end = std::max(intervals_.back().end, end);
    else
      intervals_.push_back({start, end});
  }
  Intervals take() { return std::move(intervals_); }
  const Intervals& so_far() const { return intervals_; }

 private:
  Intervals intervals_;
};

/// The union of intervals in any order.
Intervals union_of(std::vector<Interval> intervals);

/// The union of two unions.
Intervals unite(const Intervals& a, const Intervals& b);

/// Summed length.
Ns measure(std::span<const Interval> intervals);

/// The part of [start, end) that `intervals` cover, found by binary search.
Ns overlap(const Intervals& intervals, Ns start, Ns end);

/// `overlap` for queries whose start never decreases: linear over all of them.
class OverlapCursor {
 public:
  explicit OverlapCursor(const Intervals& intervals) : intervals_(&intervals) {}
  Ns overlap(Ns start, Ns end) {
    while (next_ < intervals_->size() && (*intervals_)[next_].end <= start) ++next_;
    Ns covered = 0;
    for (size_t i = next_; i < intervals_->size() && (*intervals_)[i].start < end; ++i)
      covered += std::min((*intervals_)[i].end, end) - std::max((*intervals_)[i].start, start);
    return covered;
  }

 private:
  const Intervals* intervals_;
  size_t next_ = 0;
};

}  // namespace stallscope
