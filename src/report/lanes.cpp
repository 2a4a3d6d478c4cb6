#include "report/lanes.h"

#include <algorithm>

namespace stallscope {

std::vector<size_t> longest_slices(const std::vector<Slice>& slices, size_t max_slices) {
  std::vector<size_t> rows(slices.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  if (rows.size() <= max_slices) return rows;
  std::ranges::stable_sort(rows, [&](size_t a, size_t b) {
    return std::pair(!slices[a].highlighted, -slices[a].duration) <
           std::pair(!slices[b].highlighted, -slices[b].duration);
  });
  rows.resize(max_slices);
  std::ranges::sort(rows);
  return rows;
}

Lanes assign_lanes(const Timeline& timeline, const std::vector<size_t>& rows) {
  Lanes out{std::vector<unsigned>(rows.size(), 0),
            std::vector<unsigned>(timeline.tracks.size(), 1)};
  std::vector<size_t> order(rows.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto slice = [&](size_t i) -> const Slice& { return timeline.slices[rows[i]]; };
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::pair(slice(a).start, -slice(a).duration) <
           std::pair(slice(b).start, -slice(b).duration);
  });
  std::vector<std::vector<Ns>> free_from(timeline.tracks.size());
  for (const size_t i : order) {
    const Slice& s = slice(i);
    if (s.track >= free_from.size()) continue;
    std::vector<Ns>& ends = free_from[s.track];
    unsigned lane = 0;
    while (lane < ends.size() && ends[lane] > s.start && lane + 1 < kMaxLanes) ++lane;
    if (lane == ends.size()) ends.push_back(0);
    ends[lane] = s.start + s.duration;
    out.lane[i] = lane;
    out.lanes_of_track[s.track] = std::max(out.lanes_of_track[s.track], lane + 1);
  }
  return out;
}

}  // namespace stallscope
