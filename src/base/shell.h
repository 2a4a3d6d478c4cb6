// Text as a shell reads it.
#pragma once

#include <string>
#include <string_view>

namespace stallscope {

/// `text` for between the single quotes of a POSIX shell.
inline std::string shell_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

/// `text` as one argument of a shell command.
inline std::string shell_quoted(std::string_view text) {
  return "'" + shell_escaped(text) + "'";
}

}  // namespace stallscope
