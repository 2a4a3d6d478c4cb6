// Words in names and texts: what roles, kinds and places are told by.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace stallscope {

/// A set of letter pairs as bits: a text holds a word only if it holds the word's pairs.
constexpr uint64_t letter_pairs(std::string_view text) {
  auto lower = [](char c) { return static_cast<unsigned>(c >= 'A' && c <= 'Z' ? c + 32 : c); };
  uint64_t pairs = 0;
  for (size_t i = 1; i < text.size(); ++i)
    pairs |= uint64_t{1} << ((lower(text[i - 1]) * 37 + lower(text[i])) % 64);
  return pairs;
}

/// A lower-case word to look for; its pairs are known when the program is built.
struct Word {
  std::string_view text;
  uint64_t pairs;
  consteval Word(const char* word) : text(word), pairs(letter_pairs(word)) {}  // NOLINT: a literal
};

/// Whether `text` contains any of `words`, ignoring case.
bool contains_any(std::string_view text, std::initializer_list<Word> words);

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> words);

/// Whether `text` is one of `words`.
bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words);

/// Whether one of the underscore-separated words of `name` is in `words`.
bool has_word(std::string_view name, std::initializer_list<std::string_view> words);

}  // namespace stallscope
