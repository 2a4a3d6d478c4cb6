#include "trace/python_lines.h"

#include <limits>

namespace stallscope {
namespace {

uint32_t as_line(int64_t line) {
  return line > 0 && line <= std::numeric_limits<int32_t>::max() ? static_cast<uint32_t>(line) : 0;
}

/// Pairs of (bytes of code, lines) to add, until the instruction is passed.
uint32_t from_lnotab(std::span<const uint8_t> table, int64_t line, int64_t byte) {
  int64_t at = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    at += table[i];
    if (at > byte) break;
    line += static_cast<int8_t>(table[i + 1]);
  }
  return as_line(line);
}

/// Pairs of (length in bytes, lines to add) of consecutive ranges; -128 = no line.
uint32_t from_ranges(std::span<const uint8_t> table, int64_t line, int64_t byte) {
  int64_t end = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    const auto delta = static_cast<int8_t>(table[i + 1]);
    constexpr int8_t kNoLine = -128;
    if (delta != kNoLine) line += delta;
    end += table[i];
    if (byte < end) return delta == kNoLine ? 0 : as_line(line);
  }
  return 0;
}

/// Reads a location table (PEP 626 as of 3.11, Objects/locations.md in CPython).
class Locations {
 public:
  explicit Locations(std::span<const uint8_t> table) : table_(table) {}

  uint32_t line_at(int64_t line, int64_t unit) {
    int64_t end = 0;
    while (at_ < table_.size()) {
      const uint8_t head = table_[at_++];
      if ((head & 0x80) == 0) return 0;  // entries begin with the high bit set
      const int code = (head >> 3) & 15;
      end += (head & 7) + 1;
      line += line_delta(code);
      if (unit < end) return code == kNone ? 0 : as_line(line);
      while (at_ < table_.size() && (table_[at_] & 0x80) == 0) ++at_;  // columns
    }
    return 0;
  }

 private:
  static constexpr int kOneLine0 = 10, kOneLine2 = 12, kNoColumns = 13, kLong = 14, kNone = 15;

  int64_t line_delta(int code) {
    if (code >= kOneLine0 && code <= kOneLine2) return code - kOneLine0;
    return code == kNoColumns || code == kLong ? signed_varint() : 0;
  }

  int64_t signed_varint() {
    uint64_t value = 0;
    for (int shift = 0; at_ < table_.size() && shift < 48; shift += 6) {
      const uint8_t byte = table_[at_];
      if ((byte & 0x80) != 0) break;
      ++at_;
      value |= static_cast<uint64_t>(byte & 63) << shift;
      if ((byte & 64) == 0) break;
    }
    const auto magnitude = static_cast<int64_t>(value >> 1);
    return (value & 1) != 0 ? -magnitude : magnitude;
  }

  std::span<const uint8_t> table_;
  size_t at_ = 0;
};

}  // namespace

uint32_t python_line(LineTable format, std::span<const uint8_t> table, int64_t first_line,
                     int64_t unit) {
  // Before the first instruction: the function was entered and has done nothing.
  if (unit < 0) unit = 0;
  switch (format) {
    case LineTable::lnotab:
      return from_lnotab(table, first_line, unit * 2);
    case LineTable::ranges:
      return from_ranges(table, first_line, unit * 2);
    case LineTable::locations:
      return Locations(table).line_at(first_line, unit);
  }
  return 0;
}

}  // namespace stallscope
