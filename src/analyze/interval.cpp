#include "analyze/interval.h"

namespace stallscope {

Intervals union_of(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::start);
  UnionBuilder result;
  for (const Interval& interval : intervals) result.add(interval.start, interval.end);
  return result.take();
}

Intervals unite(const Intervals& a, const Intervals& b) {
  UnionBuilder result;
  auto x = a.begin(), y = b.begin();
  while (x != a.end() || y != b.end()) {
    const bool from_a = y == b.end() || (x != a.end() && x->start <= y->start);
    const Interval& next = from_a ? *x++ : *y++;
    result.add(next.start, next.end);
  }
  return result.take();
}

Ns measure(std::span<const Interval> intervals) {
  Ns sum = 0;
  for (const Interval& interval : intervals) sum += interval.length();
  return sum;
}

Ns overlap(const Intervals& intervals, Ns start, Ns end) {
  auto it = std::ranges::upper_bound(intervals, start, {}, &Interval::end);
  Ns covered = 0;
  for (; it != intervals.end() && it->start < end; ++it)
    covered += std::min(it->end, end) - std::max(it->start, start);
  return covered;
}

}  // namespace stallscope
