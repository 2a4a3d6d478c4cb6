// Which slices of a timeline to draw, and on which line of their track.
#pragma once

#include <cstddef>
#include <vector>

#include "analyze/summary.h"

namespace stallscope {

/// Rows of `slices` to keep: highlighted ones and the longest, in their order.
std::vector<size_t> longest_slices(const std::vector<Slice>& slices, size_t max_slices);

/// Lines for slices that overlap on one track: nested ones go below.
struct Lanes {
  std::vector<unsigned> lane;            ///< per entry of `rows`
  std::vector<unsigned> lanes_of_track;  ///< at least 1 per track
};
inline constexpr unsigned kMaxLanes = 5;  ///< deeper nesting shares the last line

Lanes assign_lanes(const Timeline& timeline, const std::vector<size_t>& rows);

}  // namespace stallscope
