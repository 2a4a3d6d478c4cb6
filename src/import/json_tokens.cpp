#include "import/json_tokens.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace stallscope {
namespace {

constexpr size_t kFirstCapacity = 1 << 20;

// Four hexadecimal digits at the front of `text`; -1 when they are not there.
int code_unit(std::string_view text) {
  if (text.size() < 4) return -1;
  int unit = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + 4, unit, 16);
  return code == std::errc{} && rest == text.data() + 4 && unit >= 0 ? unit : -1;
}

void append_utf8(std::string& out, uint32_t point) {
  const auto byte = [&out](uint32_t value) { out += static_cast<char>(value); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0 | point >> 6);
    byte(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    byte(0xE0 | point >> 12);
    byte(0x80 | (point >> 6 & 0x3F));
    byte(0x80 | (point & 0x3F));
  } else {
    byte(0xF0 | point >> 18);
    byte(0x80 | (point >> 12 & 0x3F));
    byte(0x80 | (point >> 6 & 0x3F));
    byte(0x80 | (point & 0x3F));
  }
}

// The code point of the escape "uXXXX" (and its second half) at text[at]; moves `at` past it.
// False when it is malformed or half of a pair.
bool unicode_escape(std::string_view text, size_t& at, uint32_t& point) {
  const int first = code_unit(text.substr(at + 1));
  if (first < 0 || (first >= 0xDC00 && first < 0xE000)) return false;
  at += 5;
  point = static_cast<uint32_t>(first);
  if (first < 0xD800 || first >= 0xE000) return true;
  if (!text.substr(at).starts_with("\\u")) return false;
  const int second = code_unit(text.substr(at + 2));
  if (second < 0xDC00 || second >= 0xE000) return false;
  at += 6;
  point = 0x10000 + ((point - 0xD800) << 10) + static_cast<uint32_t>(second - 0xDC00);
  return true;
}

}  // namespace

struct JsonTokens::Index {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  size_t capacity = 0;
};

JsonTokens::JsonTokens() : index_(std::make_unique<Index>()) {}
JsonTokens::~JsonTokens() = default;

bool JsonTokens::index(std::string_view text) {
  at_ = end_ = nullptr;
  text_ = text.data();
  size_ = static_cast<uint32_t>(text.size());
  if (text.empty()) return false;
  if (text.size() > index_->capacity) {
    const size_t capacity = std::max(text.size() + text.size() / 4, kFirstCapacity);
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(
            capacity, simdjson::DEFAULT_MAX_DEPTH, index_->parser) != simdjson::SUCCESS) {
      index_->capacity = 0;
      return false;
    }
    index_->capacity = capacity;
  }
  if (index_->parser->stage1(reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                             simdjson::stage1_mode::regular) != simdjson::SUCCESS)
    return false;
  at_ = index_->parser->structural_indexes.get();
  end_ = at_ + index_->parser->n_structural_indexes;
  escapes_ = std::memchr(text.data(), '\\', text.size()) != nullptr;
  forget();
  return true;
}

bool JsonTokens::structure(std::string_view& text) {
  const uint32_t begin = *at_++;
  for (size_t depth = 1; at_ < end_; ++at_) {
    const char token = text_[*at_];
    if (token == '{' || token == '[') {
      ++depth;
    } else if (token == '}' || token == ']') {
      if (--depth > 0) continue;
      text = {text_ + begin, *at_ + 1 - begin};
      ++at_;
      return true;
    }
  }
  return false;
}

bool JsonTokens::decode(std::string_view& text) {
  if (decoded_used_ == decoded_.size()) decoded_.emplace_back();
  std::string& out = decoded_[decoded_used_++];
  out.clear();
  for (size_t at = 0; at < text.size();) {
    const size_t escape = std::min(text.find('\\', at), text.size());
    out.append(text.substr(at, escape - at));
    at = escape + 1;
    if (at >= text.size()) break;
    constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (const size_t simple = kEscapes.find(text[at]); simple != std::string_view::npos) {
      out += kMeant[simple];
      ++at;
      continue;
    }
    uint32_t point = 0;
    if (text[at] != 'u' || !unicode_escape(text, at, point)) return false;
    append_utf8(out, point);
  }
  text = out;
  return true;
}

}  // namespace stallscope
