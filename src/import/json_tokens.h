// JsonTokens: a walk over JSON text by the positions of its tokens, which
// simdjson finds many at a time. Values are looked at where they lie; what
// nobody reads is passed over.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace stallscope {

/// Bytes that must be readable after the last byte of what is parsed.
inline constexpr size_t kParsePadding = 64;

class JsonTokens {
 public:
  JsonTokens();
  ~JsonTokens();
  JsonTokens(const JsonTokens&) = delete;
  JsonTokens& operator=(const JsonTokens&) = delete;

  /// Finds the tokens of `text`, which must outlive the walk and have kParsePadding readable bytes
  /// behind it. False when it holds invalid UTF-8, a raw control character in a string, or a
  /// string without an end.
  bool index(std::string_view text);

  /// The first byte of the token at hand; '\0' at the end.
  char peek() const { return at_ < end_ ? text_[*at_] : '\0'; }
  /// Where the token at hand begins; the size of the text at the end.
  size_t position() const { return at_ < end_ ? *at_ : size_; }
  void next() { ++at_; }

  /// Passes the key at hand and its colon. False when that is not what is there.
  bool key(std::string_view& name) {
    if (peek() != '"') return false;
    const uint32_t begin = *at_++;
    if (peek() != ':' || !between_quotes(begin, *at_, name)) return false;
    ++at_;
    return true;
  }

  /// Passes the value at hand, a string or what is written as a bare word, and gives its text:
  /// strings decoded, valid until forget(). False when it is malformed.
  bool scalar(std::string_view& text) {
    if (at_ >= end_) return false;
    const uint32_t begin = *at_++;
    const uint32_t after = at_ < end_ ? *at_ : size_;
    if (text_[begin] == '"') {
      if (!between_quotes(begin, after, text)) return false;
      return !escapes_ || text.find('\\') == std::string_view::npos || decode(text);
    }
    uint32_t last = after;
    while (last > begin && static_cast<unsigned char>(text_[last - 1]) <= ' ') --last;
    text = {text_ + begin, last - begin};
    return !text.empty();
  }

  /// Passes the object or array at hand and gives its text. False when it does not end.
  bool structure(std::string_view& text);

  /// Passes whatever value is at hand; strings are not decoded.
  bool skip() {
    const char first = peek();
    std::string_view text;
    if (first == '{' || first == '[') return structure(text);
    return scalar_undecoded(text);
  }

  /// Frees the decoded strings.
  void forget() {
    if (decoded_used_ > 0) decoded_used_ = 0;
  }

 private:
  struct Index;

  bool scalar_undecoded(std::string_view& text) {
    const bool escapes = escapes_;
    escapes_ = false;
    const bool good = scalar(text);
    escapes_ = escapes;
    return good;
  }

  // The string that begins at `begin`, whose end is the last quote before the next token.
  bool between_quotes(uint32_t begin, uint32_t after, std::string_view& text) const {
    uint32_t last = after - 1;
    while (last > begin && static_cast<unsigned char>(text_[last]) <= ' ') --last;
    if (last == begin || text_[last] != '"') return false;
    text = {text_ + begin + 1, last - begin - 1};
    return true;
  }
  bool decode(std::string_view& text);

  std::unique_ptr<Index> index_;
  const char* text_ = nullptr;
  uint32_t size_ = 0;
  const uint32_t *at_ = nullptr, *end_ = nullptr;
  bool escapes_ = false;  // the text holds a backslash somewhere
  std::deque<std::string> decoded_;
  size_t decoded_used_ = 0;
};

}  // namespace stallscope
