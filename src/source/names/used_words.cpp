#include "source/names/used_words.h"

#include <algorithm>

#include "source/names/mentions.h"
#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

/// What stands before `Net::` of "void Net::".
std::string_view without_scopes(std::string_view text) {
  while (text.ends_with("::")) {
    text.remove_suffix(2);
    if (text.ends_with('>')) text = text.substr(0, text.rfind('<'));  // Net<T>::
    while (!text.empty() && is_identifier_char(text.back())) text.remove_suffix(1);
  }
  return text;
}

/// "  virtual void Net::", before a name and its bracket: the line declares a function. Nothing, an
/// operator or a statement's word before the name uses it.
bool declares(std::string_view before) {
  const std::string_view type = without_blanks(without_scopes(without_blanks(before)));
  if (type.empty() || std::ranges::any_of(type, [](char c) {
        return !is_identifier_char(c) &&
               std::string_view(" \t:<>,*&~").find(c) == std::string_view::npos;
      }))
    return false;
  const auto first = std::ranges::find_if_not(type, is_identifier_char);
  return !is_one_of(std::string_view(type.begin(), first),
                    {"return", "else", "throw", "case", "delete", "new", "goto", "do", "co_return",
                     "co_await", "co_yield", ""});
}

}  // namespace

std::vector<uint32_t> used_words(std::string_view source) {
  std::vector<uint32_t> out;
  size_t line = 0;
  for (size_t at = 0; at < source.size();) {
    const char c = source[at];
    if (c == '\n') {
      line = ++at;
    } else if (c == '/' && source.substr(at).starts_with("//")) {
      at = std::min(source.find('\n', at), source.size());
    } else if (c == '/' && source.substr(at).starts_with("/*")) {
      const size_t end = source.find("*/", at + 2);
      line = at = end == std::string_view::npos ? source.size() : end + 2;
    } else if (!is_identifier_char(c)) {
      ++at;
    } else {
      const size_t start = at;
      while (at < source.size() && is_identifier_char(source[at])) ++at;
      if (at - start < kShortestUsedWord) continue;
      const std::string_view word = source.substr(start, at - start);
      size_t next = at;
      while (next < source.size() && (source[next] == ' ' || source[next] == '\t')) ++next;
      const bool declared = next < source.size() && source[next] == '(' &&
                            declares(source.substr(line, start - line));
      if (declared == (word == "main")) out.push_back(name_hash(word));
    }
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace stallscope
