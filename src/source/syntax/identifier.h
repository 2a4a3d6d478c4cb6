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

}  // namespace stallscope
