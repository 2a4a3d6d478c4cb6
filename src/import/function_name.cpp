// Function names as people say them.
#include <algorithm>
#include <cctype>

#include "import/symbolize.h"

namespace stallscope {
namespace {

constexpr std::string_view kOperator = "operator";

/// Position after "operator" and its symbol when a name of an operator begins
/// at `at`; otherwise `at`. Brackets of operators must not count as brackets.
size_t skip_operator(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with(kOperator)) return at;
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  if (at > 0 && is_word(text[at - 1])) return at;
  size_t end = at + kOperator.size();
  if (end < text.size() && is_word(text[end])) return at;
  if (text.substr(end).starts_with("()")) return end + 2;
  while (end < text.size() &&
         std::string_view("<>=-+*/%^&|~!,").find(text[end]) != std::string_view::npos)
    ++end;
  return end;
}

}  // namespace

std::string plain_function_name(std::string_view text) {
  // " [clone .isra.0]" and ".part.3" say how it was compiled, not what it is.
  if (const size_t clone = text.find(" [clone"); clone != std::string_view::npos)
    text = text.substr(0, clone);
  size_t begin = 0, end = text.size();
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (const size_t after = skip_operator(text, i); after != i) {
      i = after - 1;
      continue;
    }
    const char c = text[i];
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    if (text.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
      continue;
    }
    if (c == '(' && depth == 0 && i > begin) {  // the parameters: nothing after them matters
      end = i;
      // unless a name follows, as in "f(int)::{lambda()#1}::operator()"
      int inside = 0;
      size_t close = i;
      for (; close < text.size(); ++close) {
        if (text[close] == '(') ++inside;
        if (text[close] == ')' && --inside == 0) break;
      }
      if (close + 2 >= text.size() || text.substr(close + 1, 2) != "::") break;
      i = close;
      end = text.size();
      continue;
    }
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == '}' || c == ']') depth = std::max(0, depth - 1);
    if (c == ' ' && depth == 0) begin = i + 1;  // what came before was a return type
  }
  return std::string(begin < end ? text.substr(begin, end - begin) : text);
}

}  // namespace stallscope
