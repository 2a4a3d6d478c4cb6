// Units as types' names: a time is always integer nanoseconds on one monotonic clock.
#pragma once

#include <cstdint>
#include <string>

namespace stallscope {

using Ns = int64_t;

/// The units in which periods and pauses are written.
inline constexpr Ns kMillisecond = 1'000'000, kSecond = 1'000'000'000;

using Bytes = uint64_t;

/// The smallest piece of memory that is mapped or not, on the machines this runs on.
inline constexpr Bytes kPage = 4096;

/// A duration in the unit a person would say: "1.8 ms", "12 us", "2.4 s".
std::string format_duration(double nanoseconds);

/// A size in binary units: "16 B", "3.1 MiB".
std::string format_bytes(double bytes);

/// A share of one as a percentage with one decimal: "12.3 %".
std::string format_fraction(double fraction);

}  // namespace stallscope
