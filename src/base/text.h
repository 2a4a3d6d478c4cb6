// What most readers of text need: letters in lower case, a text without the blanks around it.
#pragma once

#include <string>
#include <string_view>

namespace stallscope {

/// `text` with the letters A to Z in lower case, whatever the locale.
std::string lower(std::string_view text);

/// Whether `text` has `word` somewhere. For whole files: string_view's find() stops at each first
/// letter.
bool holds_text(std::string_view text, std::string_view word);

/// `text` without blanks, tabs and line ends at its ends.
std::string_view trimmed(std::string_view text);

}  // namespace stallscope
