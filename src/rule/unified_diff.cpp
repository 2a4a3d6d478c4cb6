// A unified diff of two texts that differ in few places.
#include <algorithm>

#include "rule/edit.h"

namespace stallscope {
namespace {

constexpr size_t kAround = 3;
using LineList = std::vector<std::string_view>;

/// With their line ends, so that a missing one at the end shows.
LineList lines_of(std::string_view text) {
  LineList out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

/// Lines [a, a_end) of the old text stand for lines [b, b_end) of the new one.
struct Change {
  size_t a, a_end, b, b_end;
};

/// Where two ranges of lines differ: by the next line that both have soonest.
std::vector<Change> changes_of(const LineList& a, const LineList& b) {
  std::vector<Change> out;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i;
      ++j;
      continue;
    }
    const size_t left = (a.size() - i) + (b.size() - j);
    Change change{i, a.size(), j, b.size()};
    bool met = false;
    for (size_t skipped = 1; skipped <= left && !met; ++skipped) {
      for (size_t of_a = std::min(skipped, a.size() - i) + 1; of_a-- > 0 && !met;) {
        const size_t of_b = skipped - of_a;
        if (i + of_a >= a.size() || j + of_b >= b.size() || a[i + of_a] != b[j + of_b]) continue;
        change = {i, i + of_a, j, j + of_b};
        met = true;
      }
    }
    out.push_back(change);
    i = change.a_end;
    j = change.b_end;
  }
  return out;
}

void put(std::string& out, char sign, std::string_view line) {
  out += sign;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

std::string range(size_t first, size_t count) {
  return std::to_string(count == 0 ? first : first + 1) +
         (count == 1 ? std::string() : "," + std::to_string(count));
}

}  // namespace

std::string unified_diff(std::string_view name, std::string_view before, std::string_view after) {
  const LineList a = lines_of(before), b = lines_of(after);
  const std::vector<Change> changes = changes_of(a, b);
  if (changes.empty()) return {};
  std::string out = "--- a/" + std::string(name) + "\n+++ b/" + std::string(name) + "\n";
  for (size_t first = 0; first < changes.size();) {
    size_t last = first;
    while (last + 1 < changes.size() && changes[last + 1].a - changes[last].a_end <= 2 * kAround)
      ++last;
    const size_t start = changes[first].a - std::min(kAround, changes[first].a);
    const size_t end = std::min(a.size(), changes[last].a_end + kAround);
    const size_t start_b = changes[first].b - (changes[first].a - start);
    const size_t end_b = changes[last].b_end + (end - changes[last].a_end);
    out += "@@ -" + range(start, end - start) + " +" + range(start_b, end_b - start_b) + " @@\n";
    size_t at = start;
    for (size_t c = first; c <= last; ++c) {
      for (; at < changes[c].a; ++at) put(out, ' ', a[at]);
      for (; at < changes[c].a_end; ++at) put(out, '-', a[at]);
      for (size_t l = changes[c].b; l < changes[c].b_end; ++l) put(out, '+', b[l]);
    }
    for (; at < end; ++at) put(out, ' ', a[at]);
    first = last + 1;
  }
  return out;
}

}  // namespace stallscope
