// Exact times from decimal text. Floating microseconds since 1970 are off by
// up to 128 ns in a double, so a time never passes through one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"

namespace stallscope {

/// The furthest time from zero that a trace may hold: 2^62 ns.
inline constexpr Ns kMostNs = Ns{1} << 62;

/// A time as written: whole nanoseconds and the rest in 10^-9 ns, 0 to 999'999'999.
struct ExactTime {
  Ns ns = 0;
  int64_t rest = 0;
};

/// Reads decimal microseconds ("1695835542514261", "4458676522690.655",
/// "-1.5e3"), leading and trailing blanks allowed. Digits finer than 10^-18 s
/// are cut. nullopt when the text is no number or the time leaves +-146 years
/// (kMostNs), so that the distance of any two times fits into 64 bits.
std::optional<ExactTime> parse_microseconds(std::string_view text);

/// Rounded to the nearest nanosecond.
Ns round_to_ns(const ExactTime& time);

/// start + duration, exactly, nullopt beyond kMostNs: rounding both ends of an interval instead of
/// its length keeps neighbours that touch touching.
std::optional<ExactTime> add(const ExactTime& start, const ExactTime& duration);

/// An integer written in decimal, perhaps as "7.0" or quoted-off text; nullopt
/// when it is none or exceeds 64 bits.
std::optional<int64_t> parse_integer(std::string_view text);

}  // namespace stallscope
