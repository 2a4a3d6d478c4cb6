#include "trace/line_ranges.h"

#include <algorithm>
#include <charconv>

namespace stallscope {

std::set<uint32_t> lines_of_ranges(std::string_view text) {
  constexpr uint32_t kMost = 1'000'000;
  std::set<uint32_t> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const char* const stop = text.data() + end;
    uint32_t first = 0, last = 0;
    const auto read = std::from_chars(text.data() + at, stop, first);
    last = first;
    if (read.ec == std::errc() && read.ptr != stop && *read.ptr == '-')
      std::from_chars(read.ptr + 1, stop, last);
    if (read.ec == std::errc() && first > 0 && last <= kMost) {
      for (uint32_t line = first; line <= last; ++line) out.insert(out.end(), line);
    }
    at = end + 1;
  }
  return out;
}

std::string ranges_of_lines(const std::set<uint32_t>& lines) {
  std::string out;
  for (auto it = lines.begin(); it != lines.end();) {
    const uint32_t first = *it;
    uint32_t last = first;
    for (++it; it != lines.end() && *it == last + 1; ++it) last = *it;
    out += (out.empty() ? "" : ",") + std::to_string(first);
    if (last > first) out += "-" + std::to_string(last);
  }
  return out;
}

}  // namespace stallscope
