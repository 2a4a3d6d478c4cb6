// The lines of a text one by one, with their numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stallscope {

/// Walks over `text`, which must outlive it: while (lines.next()) use(lines.line(),
/// lines.number()).
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  /// Moves to the next line; false behind the last one. A line end at the end
  /// of the text begins no further line.
  bool next() {
    if (rest_.empty()) return false;
    const size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    ends_in_newline_ = end != std::string_view::npos;
    rest_.remove_prefix(ends_in_newline_ ? end + 1 : rest_.size());
    ++number_;
    return true;
  }

  std::string_view line() const { return line_; }  ///< without its '\n'
  uint64_t number() const { return number_; }      ///< from 1
  /// False for a last line that was perhaps cut.
  bool ends_in_newline() const { return ends_in_newline_; }

 private:
  std::string_view rest_, line_;
  uint64_t number_ = 0;
  bool ends_in_newline_ = false;
};

/// All lines of `text`, without the "\n" or "\r\n" at their ends.
inline std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> out;
  for (Lines lines(text); lines.next();) {
    std::string_view line = lines.line();
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.emplace_back(line);
  }
  return out;
}

}  // namespace stallscope
