#include "cli/diff_lines.h"

#include <algorithm>
#include <cstdio>

namespace stallscope {
namespace {

/// A name as git quotes it where it has quotes or control characters: C escapes, octal bytes.
std::string unquoted(std::string_view text) {
  std::string out;
  for (size_t at = 1; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\' || at + 1 >= text.size()) {
      out += text[at];
      continue;
    }
    const char c = text[++at];
    constexpr std::string_view kNames = "abtnvfr", kBytes = "\a\b\t\n\v\f\r";
    if (const size_t named = kNames.find(c); named != std::string_view::npos) {
      out += kBytes[named];
    } else if (c >= '0' && c <= '7') {
      unsigned byte = 0;
      for (size_t digits = 0; digits < 3 && at < text.size() && text[at] >= '0' && text[at] <= '7';
           ++digits, ++at)
        byte = byte * 8 + static_cast<unsigned>(text[at] - '0');
      --at;
      out += static_cast<char>(byte);
    } else {
      out += c;
    }
  }
  return out;
}

/// The file of a line "+++ b/FILE"; git ends a name with blanks by a tab.
std::string new_file(std::string_view name) {
  std::string out =
      name.starts_with('"') ? unquoted(name) : std::string(name.substr(0, name.find('\t')));
  return out.starts_with("b/") ? out.substr(2) : std::string();  // or /dev/null
}

/// Counts of "@@ -OLD,COUNT +NEW,COUNT @@".
struct Hunk {
  unsigned old_lines = 1, first = 0, new_lines = 1;
};

Hunk hunk_of(std::string_view header) {
  Hunk out;
  const std::string text(header);
  const size_t minus = text.find('-'), plus = text.find('+');
  if (minus == std::string::npos || plus == std::string::npos) return out;
  unsigned old_first = 0;
  std::sscanf(text.c_str() + minus + 1, "%u,%u", &old_first, &out.old_lines);
  std::sscanf(text.c_str() + plus + 1, "%u,%u", &out.first, &out.new_lines);
  return out;
}

}  // namespace

void add_changed_lines(std::string_view diff, const std::string& folder, LinesOfFiles& out) {
  std::string file;
  size_t body = 0;  // lines of the hunk still to come: code may look like a header
  for (size_t at = 0; at < diff.size();) {
    const size_t end = std::min(diff.find('\n', at), diff.size());
    const std::string_view line = diff.substr(at, end - at);
    at = end + 1;
    if (body > 0 && !line.starts_with('\\')) {
      --body;
    } else if (line.starts_with("+++ ")) {
      file = new_file(line.substr(4));
    } else if (line.starts_with("@@ ")) {
      const Hunk hunk = hunk_of(line);
      body = size_t{hunk.old_lines} + hunk.new_lines;
      if (hunk.first > 0 && hunk.new_lines > 0 && !file.empty())
        out[folder + file].emplace_back(hunk.first, hunk.first + hunk.new_lines - 1);
    }
  }
}

}  // namespace stallscope
