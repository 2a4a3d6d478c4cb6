#include "source/syntax/words.h"

#include <algorithm>

namespace stallscope {

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [text](std::string_view w) {
    return w.empty() || (!text.empty() && w[0] == text[0] && text.starts_with(w));
  });
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  // Most words differ by their first letter: the library's comparison need not be called.
  const auto same = [text](std::string_view w) {
    return w.size() == text.size() && (w.empty() || (w[0] == text[0] && w == text));
  };
  return std::ranges::any_of(words, same);
}

bool has_word(std::string_view name, std::initializer_list<std::string_view> words) {
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && name[end] != '_' && name[end] != '-') ++end;
    if (is_one_of(name.substr(at, end - at), words)) return true;
    at = end + 1;
  }
  return false;
}

bool contains_any(std::string_view text, std::initializer_list<Word> words) {
  const uint64_t pairs = letter_pairs(text);
  auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
  return std::ranges::any_of(words, [&](const Word& word) {
    return (word.pairs & ~pairs) == 0 && !std::ranges::search(text, word.text, same).empty();
  });
}

}  // namespace stallscope
