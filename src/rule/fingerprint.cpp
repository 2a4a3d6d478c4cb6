// Fingerprints: what a finding is called across runs, moved lines and renamed files.
#include <cctype>

#include "base/file.h"
#include "rule/finding.h"

namespace stallscope {
namespace {

// One blank between words and none elsewhere, so that re-indenting or
// re-wrapping a line keeps its name.
std::string normalised(std::string_view line) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  std::string result;
  bool blank = false;
  for (const char c : line) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      blank = true;
      continue;
    }
    if (blank && !result.empty() && is_word(result.back()) && is_word(c)) result += ' ';
    blank = false;
    result += c;
  }
  return result;
}

}  // namespace

std::string bare_function(std::string_view function) {
  std::string kept;
  int depth = 0;
  for (const char c : function) {
    if (c == '<' || c == '(' || c == '[') {
      if (c == '(' && depth == 0 && !kept.empty()) break;
      ++depth;
    } else if (c == '>' || c == ')' || c == ']') {
      if (depth > 0) --depth;
    } else if (depth == 0) {
      kept += c;
    }
  }
  while (!kept.empty() && kept.back() == ' ') kept.pop_back();
  const size_t begin = kept.find_last_of(" .:");
  return begin == std::string::npos ? kept : kept.substr(begin + 1);
}

std::string fingerprint(std::string_view rule_id, std::string_view function,
                        std::string_view source_line, unsigned ordinal, std::string_view subject) {
  constexpr char kSeparator = '\x1f';
  std::string text(rule_id);
  text += kSeparator;
  text += bare_function(function);
  text += kSeparator;
  const std::string line = normalised(source_line);
  // Without a source line the subject names the place; with one it must not,
  // because a kernel may be renamed by a library's update.
  text += line.empty() ? std::string(subject) : line;
  text += kSeparator;
  text += std::to_string(ordinal);
  return content_hash(text);
}

}  // namespace stallscope
