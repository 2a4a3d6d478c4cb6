// Units as types' names: a time is always integer nanoseconds on one monotonic clock.
#pragma once

#include <cstdint>
#include <string>

namespace stallscope {

using Ns = int64_t;
using Bytes = uint64_t;

/// A duration in the unit a person would say: "1.8 ms", "12 us", "2.4 s".
std::string format_duration(double nanoseconds);

/// A size in binary units: "16 B", "3.1 MiB".
std::string format_bytes(double bytes);

/// A share of one as a percentage with one decimal: "12.3 %".
std::string format_fraction(double fraction);

}  // namespace stallscope
