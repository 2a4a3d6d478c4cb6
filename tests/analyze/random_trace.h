// Small random traces that press on every branch of the class definition:
// ties, overlaps, missing launches, several threads, streams and devices.
#pragma once

#include "trace/trace.h"

namespace stallscope {

/// A finished trace with markers of six steps; equal seeds give equal traces.
Trace random_trace(uint64_t seed);

}  // namespace stallscope
