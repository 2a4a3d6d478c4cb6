#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace stallscope {
namespace {

// Three significant digits, as people quote measurements.
std::string scaled(double value, const char* unit) {
  const double magnitude = std::fabs(value);
  const int decimals = magnitude >= 100 || value == 0 ? 0 : magnitude >= 10 ? 1 : 2;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text + " " + unit;
}

}  // namespace

std::string format_duration(double ns) {
  const double magnitude = std::fabs(ns);
  if (magnitude >= 1e9) return scaled(ns / 1e9, "s");
  if (magnitude >= 1e6) return scaled(ns / 1e6, "ms");
  if (magnitude >= 1e3) return scaled(ns / 1e3, "us");
  return scaled(ns, "ns");
}

std::string format_bytes(double bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (std::fabs(bytes) >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return scaled(bytes, kUnits[unit]);
}

std::string format_fraction(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100);
}

}  // namespace stallscope
