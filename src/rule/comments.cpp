#include "rule/comments.h"

#include <algorithm>

namespace stallscope {
namespace {

/// Walks the bytes of a file once.
class Scanner {
 public:
  Scanner(std::string_view text, CommentStyle style) : text_(text), style_(style) {}

  std::vector<Comment> run() {
    while (at_ < text_.size()) step();
    // Comments are found in order; the code that follows each is known only now.
    for (Comment& comment : comments_) {
      const auto next = std::ranges::upper_bound(code_lines_, comment.line);
      comment.next_code_line = next == code_lines_.end() ? 0 : *next;
    }
    return std::move(comments_);
  }

 private:
  bool looking_at(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  void advance(size_t count = 1) {
    for (; count > 0 && at_ < text_.size(); --count)
      if (text_[at_++] == '\n') ++line_;
  }

  void note_code() {
    if (code_lines_.empty() || code_lines_.back() != line_) code_lines_.push_back(line_);
  }

  void step() {
    const char c = text_[at_];
    if (style_ == CommentStyle::hash && c == '#') return line_comment(1);
    if (style_ == CommentStyle::slashes && looking_at("//")) return line_comment(2);
    if (style_ == CommentStyle::slashes && looking_at("/*")) return block_comment();
    if (c == '"' || c == '\'') return literal(c);
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') note_code();
    advance();
  }

  void add(std::string_view text, uint32_t line) {
    const bool alone = code_lines_.empty() || code_lines_.back() != line;
    comments_.push_back({.text = text, .line = line, .alone = alone, .next_code_line = 0});
  }

  void line_comment(size_t sign) {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    add(text_.substr(at_ + sign, end - at_ - sign), line_);
    at_ = end;
  }

  void block_comment() {
    const size_t end = text_.find("*/", at_ + 2);
    const size_t stop = end == std::string_view::npos ? text_.size() : end;
    const std::string_view inside = text_.substr(at_ + 2, stop - at_ - 2);
    add(inside.substr(0, inside.find('\n')), line_);
    advance(stop - at_ + (end == std::string_view::npos ? 0 : 2));
  }

  void literal(char quote) {
    note_code();
    if (style_ == CommentStyle::slashes) {
      // 1'000'000 is a number, and R"x(...)x" ends at its own delimiter.
      if (quote == '\'' && at_ > 0 && is_digit(text_[at_ - 1])) return advance();
      if (quote == '"' && at_ > 0 && text_[at_ - 1] == 'R') return raw_literal();
    } else if (const std::string triple(3, quote); looking_at(triple)) {
      advance(3);
      until(triple, true);
      return;
    }
    advance();
    until(std::string_view(&quote, 1), false);
  }

  static bool is_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  }

  // To behind `end`, or, on one line, to the line's end: an open quote spoils one line only.
  void until(std::string_view end, bool many_lines) {
    while (at_ < text_.size()) {
      if (text_[at_] == '\\') {
        advance(2);
        continue;
      }
      if (looking_at(end)) return advance(end.size());
      if (text_[at_] == '\n') {
        if (!many_lines) return;
        advance();
        note_code();
        continue;
      }
      advance();
    }
  }

  void raw_literal() {
    constexpr size_t kLongestDelimiter = 16;
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ - 1 > kLongestDelimiter) return advance();
    std::string end = ")";
    end += text_.substr(at_ + 1, open - at_ - 1);
    end += '"';
    const size_t close = text_.find(end, open);
    const size_t stop = close == std::string_view::npos ? text_.size() : close + end.size();
    while (at_ < stop) {
      advance();
      note_code();
    }
  }

  std::string_view text_;
  CommentStyle style_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  std::vector<uint32_t> code_lines_;
  std::vector<Comment> comments_;
};

}  // namespace

std::vector<Comment> comments_of(std::string_view text, CommentStyle style) {
  return Scanner(text, style).run();
}

}  // namespace stallscope
