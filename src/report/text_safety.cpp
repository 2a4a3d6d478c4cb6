#include "report/text_safety.h"

#include <fmt/ranges.h>

#include <cstdint>

namespace stallscope {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Length of the valid UTF-8 sequence at the start of `text`; 0 when it is invalid.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto continues = [&](size_t i, uint8_t low = 0x80, uint8_t high = 0xBF) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    // The bounds of the second byte exclude overlong forms and surrogates.
    const uint8_t low = first == 0xE0 ? 0xA0 : 0x80, high = first == 0xED ? 0x9F : 0xBF;
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const uint8_t low = first == 0xF0 ? 0x90 : 0x80, high = first == 0xF4 ? 0x8F : 0xBF;
    return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

/// Calls `visit(sequence)` for each valid character, U+FFFD in place of invalid bytes.
template <typename Visit>
void each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    visit(length == 0 ? kReplacement : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

bool is_control(std::string_view character) {
  if (character.size() == 1)
    return static_cast<uint8_t>(character[0]) < 0x20 || character[0] == 0x7F;
  // C1 controls (U+0080 to U+009F): some terminals act on them.
  return character.size() == 2 && character[0] == '\xC2' &&
         static_cast<uint8_t>(character[1]) < 0xA0;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  each_character(text, [&](std::string_view character) { out += character; });
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  each_character(text, [&](std::string_view character) {
    if (!is_control(character))
      out += character;
    else
      out += character == "\n" || character == "\t" || character == "\r" ? " " : kReplacement;
  });
  return out;
}

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  each_character(text, [&](std::string_view character) {
    if (character == "&")
      out += "&amp;";
    else if (character == "<")
      out += "&lt;";
    else if (character == ">")
      out += "&gt;";
    else if (character == "\"")
      out += "&quot;";
    else if (character == "'")
      out += "&#39;";
    else if (character == "\n" || character == "\t")
      out += character;
    else if (is_control(character))
      out += kReplacement;
    else
      out += character;
  });
  return out;
}

std::string joined(std::span<const std::string> names) {
  return one_line(fmt::format("{}", fmt::join(names, ", ")));
}

std::string escaped(std::string_view text) {
  return escape_markup(one_line(text));
}

std::string escape_json_for_script(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '<') {
      out += "\\u003c";
    } else if (json.substr(i, 3) == "\xE2\x80\xA8") {
      out += "\\u2028";
      i += 2;
    } else if (json.substr(i, 3) == "\xE2\x80\xA9") {
      out += "\\u2029";
      i += 2;
    } else {
      out += json[i];
    }
  }
  return out;
}

std::string shortened(std::string_view text, size_t max_characters) {
  std::string out;
  size_t kept = 0;
  bool cut = false;
  each_character(text, [&](std::string_view character) {
    if (kept < max_characters)
      out += character;
    else
      cut = true;
    ++kept;
  });
  return cut ? out + "\xE2\x80\xA6" : out;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

}  // namespace stallscope
