// Rows for formats whose slices must nest: what overlaps without nesting goes
// to a further lane of its track.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace stallscope {

/// True for events that are drawn with a length; the others are instants or counters.
bool is_slice(EventKind kind);

/// Slices of one track as begin and end marks in the order to write them.
struct SliceMark {
  EventId event = 0;
  unsigned lane = 0;
  bool begin = false;
};
std::vector<SliceMark> slice_marks(const Trace& trace, TrackId track);

}  // namespace stallscope
