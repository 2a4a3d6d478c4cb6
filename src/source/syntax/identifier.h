// Where a name of C++ begins and ends in its text.
#pragma once

#include <cctype>
#include <string_view>

namespace stallscope {

inline bool is_identifier_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Whether the name that stands at text[at, at + size) is no part of a longer one.
inline bool is_whole_identifier(std::string_view text, size_t at, size_t size) {
  const size_t end = at + size;
  return (at == 0 || !is_identifier_char(text[at - 1])) &&
         (end >= text.size() || !is_identifier_char(text[end]));
}

/// Whether `name` stands somewhere in a text, as no part of a longer one.
inline bool holds_identifier(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    if (is_whole_identifier(text, at, name.size())) return true;
  }
  return false;
}

}  // namespace stallscope
