#include "import/json_repair.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace stallscope {
namespace {

// Length of the valid UTF-8 sequence at text[at], 0 when there is none.
size_t utf8_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if ((lead & 0xF0U) == 0xE0) {
    const bool short_form = lead == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
    return continues(1) && continues(2) && !short_form && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool short_form = lead == 0xF0 && byte(1) < 0x90;
    const bool beyond = lead == 0xF4 && byte(1) >= 0x90;
    return continues(1) && continues(2) && continues(3) && !short_form && !beyond ? 4 : 0;
  }
  return 0;
}

// Walks a broken object once and writes a strict one.
class Repairer {
 public:
  Repairer(std::string_view text, Repairs& repairs) : text_(text), repairs_(repairs) {
    out_.reserve(text.size() + 64);
  }

  std::string run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_blank(c)) {
        ++at_;
      } else if (c == '"') {
        begin_item();
        string();
      } else if (c == '{' || c == '[') {
        begin_item();
        out_ += c;
        open_.push_back(c == '{' ? '}' : ']');
        after_item_ = false;
        ++at_;
      } else if (c == '}' || c == ']') {
        if (open_.empty()) break;
        close();
        ++at_;
        if (open_.empty()) break;
      } else if (c == ',') {
        supply_value();
        if (comma_) ++repairs_[kRepairComma];
        comma_ = true;
        ++at_;
      } else if (c == ':') {
        out_ += ':';
        after_item_ = false;
        value_due_ = true;
        ++at_;
      } else {
        begin_item();
        if (!scalar()) return {};
      }
    }
    if (open_.empty()) return out_.empty() ? std::string{} : std::move(out_);
    return {};  // the caller decides where a truncated event ends
  }

 private:
  // Writes the comma due before an item, exactly one.
  void begin_item() {
    value_due_ = false;
    if (after_item_) {
      if (!comma_) ++repairs_[kRepairComma];
      out_ += ',';
    } else if (comma_) {
      ++repairs_[kRepairComma];
    }
    comma_ = false;
    after_item_ = true;
  }

  // "key": , and "key": }
  void supply_value() {
    if (!value_due_) return;
    ++repairs_[kRepairNoValue];
    out_ += "null";
    value_due_ = false;
    after_item_ = true;
  }

  void close() {
    supply_value();
    if (comma_) ++repairs_[kRepairComma];
    comma_ = false;
    out_ += open_.back();
    open_.pop_back();
    after_item_ = true;
  }

  size_t next_visible(size_t at) const {
    while (at < text_.size() && is_blank(text_[at])) ++at;
    return at;
  }

  // Whether the quote at text_[quote] ends its string: what follows must be
  // what JSON allows there, and after a comma in an object a key with a colon.
  bool closes_string(size_t quote, bool is_key) const {
    const size_t next = next_visible(quote + 1);
    if (next >= text_.size()) return true;
    if (is_key) return text_[next] == ':';
    if (text_[next] == '}' || text_[next] == ']') return true;
    // A comma was forgotten, rather than a quote left unescaped.
    if (text_[next] == '"' && next > quote + 1) return begins_with_event_key(text_.substr(next));
    if (text_[next] != ',') return false;
    const size_t after = next_visible(next + 1);
    if (after >= text_.size() || text_[after] == '}' || text_[after] == ']') return true;
    if (!open_.empty() && open_.back() == ']') return true;
    if (text_[after] != '"') return false;
    const size_t length = json_string_extent(text_.substr(after));
    if (length == std::string_view::npos) return false;
    const size_t colon = next_visible(after + length);
    return colon < text_.size() && text_[colon] == ':';
  }

  void string() {
    const bool is_key = !open_.empty() && open_.back() == '}' && !out_.empty() &&
                        (out_.back() == '{' || out_.back() == ',');
    out_ += '"';
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (closes_string(at_, is_key)) {
          ++at_;
          break;
        }
        ++repairs_[kRepairQuote];
        out_ += "\\\"";
        ++at_;
      } else if (c == '\\') {
        escape();
      } else if (static_cast<unsigned char>(c) < 0x20) {
        ++repairs_[kRepairControl];
        static constexpr char kHex[] = "0123456789abcdef";
        out_ += "\\u00";
        out_ += kHex[static_cast<unsigned char>(c) >> 4];
        out_ += kHex[c & 15];
        ++at_;
      } else {
        character();
      }
    }
    out_ += '"';
  }

  void character() {
    const size_t length = utf8_length(text_, at_);
    if (length == 0) {
      ++repairs_[kRepairUtf8];
      out_ += "\xEF\xBF\xBD";  // U+FFFD
      ++at_;
      return;
    }
    out_.append(text_.substr(at_, length));
    at_ += length;
  }

  // The value of the four hexadecimal digits after "\u" at text_[at]; -1 when there are none.
  int hex4(size_t at) const {
    if (at + 6 > text_.size() || text_[at] != '\\' || text_[at + 1] != 'u') return -1;
    int value = 0;
    for (size_t i = at + 2; i < at + 6; ++i) {
      const auto digit = static_cast<unsigned char>(text_[i]);
      if (std::isxdigit(digit) == 0) return -1;
      value = value * 16 + (std::isdigit(digit) != 0 ? digit - '0' : (digit | 0x20) - 'a' + 10);
    }
    return value;
  }

  void escape() {
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (next == 'u') {
      const int code = hex4(at_);
      const bool high = code >= 0xD800 && code < 0xDC00;
      const int low = high ? hex4(at_ + 6) : -1;
      if (code >= 0 && (code < 0xD800 || code > 0xDFFF)) {
        out_.append(text_.substr(at_, 6));
        at_ += 6;
        return;
      }
      if (high && low >= 0xDC00 && low <= 0xDFFF) {
        out_.append(text_.substr(at_, 12));
        at_ += 12;
        return;
      }
      if (code >= 0) {
        ++repairs_[kRepairUtf8];  // half a surrogate pair
        out_ += "\\ufffd";
        at_ += 6;
        return;
      }
    } else if (next != '\0' &&
               std::string_view("\"\\/bfnrt").find(next) != std::string_view::npos) {
      out_.append(text_.substr(at_, 2));
      at_ += 2;
      return;
    }
    ++repairs_[kRepairEscape];
    out_ += "\\\\";
    ++at_;
  }

  // A number, true, false or null; NaN and infinities become null.
  bool scalar() {
    const size_t first = at_;
    while (at_ < text_.size() && !is_blank(text_[at_]) &&
           std::string_view(",:{}[]\"").find(text_[at_]) == std::string_view::npos)
      ++at_;
    const std::string_view word = text_.substr(first, at_ - first);
    const auto is_number_char = [](unsigned char c) {
      return std::isdigit(c) != 0 || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
    };
    if (word == "true" || word == "false" || word == "null" ||
        std::ranges::all_of(word, is_number_char)) {
      out_ += word;
      return true;
    }
    std::string lower(word);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (lower.starts_with('-') || lower.starts_with('+')) lower.erase(0, 1);
    if (!lower.starts_with("nan") && !lower.starts_with("inf")) return false;
    ++repairs_[kRepairNotANumber];
    out_ += "null";
    return true;
  }

  std::string_view text_;
  Repairs& repairs_;
  std::string out_;
  std::vector<char> open_;  // closing brackets due
  size_t at_ = 0;
  bool after_item_ = false;  // an item ended: a comma or an end is due
  bool comma_ = false;
  bool value_due_ = false;  // a colon was the last thing seen
};

}  // namespace

std::string repair_object(std::string_view text, Repairs& repairs) {
  return Repairer(text, repairs).run();
}

}  // namespace stallscope
