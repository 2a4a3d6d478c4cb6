#include "rule/comments.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "base/text.h"
#include "rule/yaml_values.h"

namespace stallscope {
namespace {

const LineRange* range_at(const std::vector<LineRange>& ranges, uint32_t line) {
  const auto after = std::ranges::upper_bound(ranges, line, {}, &LineRange::first);
  if (after == ranges.begin() || (after - 1)->last < line) return nullptr;
  return &*(after - 1);
}

/// Walks the bytes of a file once.
class Scanner {
 public:
  Scanner(std::string_view text, CommentStyle style) : text_(text), style_(style) {
    if (style != CommentStyle::yaml) return;
    for (const YamlValue& value : yaml_values(text)) {
      joined_.push_back({value.first_line, value.last_line});
      if (value.block) inner_.push_back({value.first_line + 1, value.last_line});
    }
  }

  void run() {
    while (at_ < text_.size()) step();
    // Comments are found in order; the code that follows each is known only now.
    for (Comment& comment : comments_) {
      uint32_t line = comment.line;
      if (comment.alone) {
        const auto next = std::ranges::upper_bound(code_lines_, line);
        line = next == code_lines_.end() ? 0 : *next;
      }
      comment.about =
          line == 0 || has_own(comment.line) ? LineRange{line, line} : joined_with(line);
    }
  }

  LineRange joined_with(uint32_t line) const {
    const LineRange* const found = range_at(joined_, line);
    return found ? *found : LineRange{line, line};
  }

  std::vector<Comment> take_comments() { return std::move(comments_); }

 private:
  /// Whether lines that are joined at `line` may each have a comment: those of a script inside a
  /// file, and, up to the last, those of a macro, by /* */.
  bool has_own(uint32_t line) const {
    return range_at(inner_, line) != nullptr ||
           (style_ == CommentStyle::slashes && line < joined_with(line).last);
  }

  bool looking_at(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  void advance(size_t count = 1) {
    for (; count > 0 && at_ < text_.size(); --count)
      if (text_[at_++] == '\n') ++line_;
  }

  void note_code() {
    if (code_lines_.empty() || code_lines_.back() != line_) code_lines_.push_back(line_);
  }

  /// Goes to the next line, which belongs to this one.
  void join() {
    if (style_ != CommentStyle::yaml) {  // whose values are known
      if (joined_.empty() || joined_.back().last < line_) joined_.push_back({line_, line_});
      joined_.back().last = line_ + 1;
    }
    advance();
  }

  /// Whether a # here begins a comment.
  bool at_word_start() const {
    if (style_ == CommentStyle::hash || at_ == 0) return true;
    const std::string_view before = style_ == CommentStyle::shell ? " \t\n;&|()" : " \t\n";
    return before.find(text_[at_ - 1]) != std::string_view::npos;
  }

  void step() {
    const char c = text_[at_];
    if (style_ == CommentStyle::slashes) {
      if (looking_at("//")) return line_comment(2);
      if (looking_at("/*")) return block_comment();
    } else if (c == '#' && at_word_start()) {
      return line_comment(1);
    }
    if (c == '"' || c == '\'') return literal(c);
    if (c == '\\' && style_ != CommentStyle::yaml) return backslash();
    if (style_ == CommentStyle::shell && looking_at("<<")) return announce_document();
    if (c == '\n' && !documents_.empty()) return here_documents();
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') note_code();
    advance();
  }

  void add(std::string_view text, uint32_t line) {
    const LineRange* const joined = range_at(joined_, line);
    const bool goes_on = joined && joined->first < line && style_ != CommentStyle::slashes &&
                         range_at(inner_, line) == nullptr;
    const bool alone = !goes_on && (code_lines_.empty() || code_lines_.back() != line);
    comments_.push_back({.text = text, .line = line, .alone = alone, .about = {}});
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

  /// At a backslash: what follows is taken as it is, a line's end as none.
  void backslash() {
    note_code();
    advance();
    if (looking_at("\r\n")) advance();
    if (looking_at("\n"))
      join();
    else if (style_ == CommentStyle::shell)
      advance();
  }

  void literal(char quote) {
    const std::string_view one(&quote, 1);
    switch (style_) {
      case CommentStyle::slashes:
        // 1'000'000 is a number, and R"x(...)x" ends at its own delimiter.
        if (quote == '\'' && at_ > 0 && is_digit(text_[at_ - 1])) break;
        if (quote == '"' && at_ > 0 && text_[at_ - 1] == 'R') return raw_literal();
        return until(one, {});
      case CommentStyle::hash:
        if (const std::string triple(3, quote); looking_at(triple))
          return until(triple, {.many_lines = true});
        return until(one, {});
      case CommentStyle::shell: {
        const bool escapes = quote == '"' || (at_ > 0 && text_[at_ - 1] == '$');
        return until(one, {.many_lines = is_closed(quote, escapes), .escapes = escapes});
      }
      case CommentStyle::yaml:
        // don't is a word
        if (at_ > 0 &&
            std::string_view(" \t\n[{(,:").find(text_[at_ - 1]) == std::string_view::npos)
          break;
        return until(one, {.escapes = quote == '"'});
    }
    note_code();
    advance();
  }

  static bool is_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  }

  /// Whether a quote of shell ends at all: one that does not is a slip.
  bool is_closed(char quote, bool escapes) const {
    for (size_t at = at_ + 1; at < text_.size(); ++at) {
      if (text_[at] == quote) return true;
      if (escapes && text_[at] == '\\') ++at;
    }
    return false;
  }

  struct Text {
    bool many_lines = false, escapes = true;
  };
  // From the text's beginning, which is as its end, to behind `end`; or, on one line, to the line's
  // end: an open quote spoils one line only.
  void until(std::string_view end, Text kind) {
    note_code();
    advance(end.size());
    while (at_ < text_.size()) {
      if (kind.escapes && text_[at_] == '\\') {
        advance();
        if (looking_at("\r\n")) advance();
        if (looking_at("\n")) {
          join();
          note_code();
        } else {
          advance();
        }
        continue;
      }
      if (looking_at(end)) return advance(end.size());
      if (text_[at_] != '\n') {
        advance();
        continue;
      }
      if (!kind.many_lines) return;
      join();
      note_code();
    }
  }

  void raw_literal() {
    note_code();
    constexpr size_t kLongestDelimiter = 16;
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ - 1 > kLongestDelimiter) return advance();
    std::string end = ")";
    end += text_.substr(at_ + 1, open - at_ - 1);
    end += '"';
    const size_t close = text_.find(end, open);
    const size_t stop = close == std::string_view::npos ? text_.size() : close + end.size();
    while (at_ < stop) {
      text_[at_] == '\n' ? join() : advance();
      note_code();
    }
  }

  /// At a <<: what follows it ends a document that begins in the next line.
  void announce_document() {
    note_code();
    if (looking_at("<<<")) return advance(3);  // a text
    advance(2);
    const size_t word = std::min(text_.find_first_not_of("- \t\"'\\", at_), text_.size());
    const size_t end = std::min(text_.find_first_of(" \t\r\n\"';&|<>()", word), text_.size());
    const std::string_view delimiter = text_.substr(word, end - word);
    // A number is an operand: 1 << 4.
    if (delimiter.empty() || is_decimal(delimiter[0]) || last_place_of(delimiter) < end) return;
    documents_.push_back(delimiter);
    at_ = end;
    if (looking_at("\"") || looking_at("'")) advance();
  }

  static bool is_decimal(char c) { return c >= '0' && c <= '9'; }

  /// Where the last line begins that is only `word`; 0 when none is.
  size_t last_place_of(std::string_view word) {
    if (line_places_.empty()) {
      for (size_t at = 0; at < text_.size();) {
        const size_t end = std::min(text_.find('\n', at), text_.size());
        line_places_[trimmed(text_.substr(at, end - at))] = at;
        at = end + 1;
      }
    }
    const auto found = line_places_.find(word);
    return found == line_places_.end() ? 0 : found->second;
  }

  /// At the end of the line that announced documents: goes over them. They may be scripts, whose
  /// comments are seen.
  void here_documents() {
    inner_.push_back({line_ + 1, std::numeric_limits<uint32_t>::max()});
    for (const std::string_view delimiter : std::exchange(documents_, {})) {
      for (bool inside = true; inside && at_ < text_.size();) {
        join();
        const size_t end = std::min(text_.find('\n', at_), text_.size());
        const std::string_view line = trimmed(text_.substr(at_, end - at_));
        inside = line != delimiter;
        inner_line(end);
      }
    }
    inner_.back().last = line_;
  }

  void inner_line(size_t end) {
    while (at_ < end) {
      if (text_[at_] == '#' && at_word_start()) return line_comment(1);
      if (text_[at_] != ' ' && text_[at_] != '\t' && text_[at_] != '\r') note_code();
      advance();
    }
  }

  std::string_view text_;
  CommentStyle style_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  std::vector<uint32_t> code_lines_;
  std::vector<LineRange> joined_;  ///< in order, apart from each other
  std::vector<LineRange> inner_;   ///< lines of scripts inside: here-documents, blocks of YAML
  std::vector<std::string_view> documents_;  ///< ends of those that begin next
  std::map<std::string_view, size_t> line_places_;
  std::vector<Comment> comments_;
};

}  // namespace

std::vector<Comment> comments_of(std::string_view text, CommentStyle style) {
  Scanner scanner(text, style);
  scanner.run();
  return scanner.take_comments();
}

LineRange joined_lines(std::string_view text, CommentStyle style, uint32_t line) {
  Scanner scanner(text, style);
  scanner.run();
  return scanner.joined_with(line);
}

}  // namespace stallscope
