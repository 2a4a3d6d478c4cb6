// Small text helpers without a C++ library.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stallscope::collect {

/// Builds a NUL-terminated text in a buffer, cutting what does not fit.
class TextBuilder {
 public:
  TextBuilder(char* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) {
    buffer_[0] = '\0';
  }
  TextBuilder& add(const char* text) {
    while (*text != '\0') add_char(*text++);
    return *this;
  }
  TextBuilder& add_number(int64_t number) {
    char digits[24];
    int count = 0;
    uint64_t rest = number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
    do {
      digits[count++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (number < 0) add_char('-');
    while (count > 0) add_char(digits[--count]);
    return *this;
  }
  bool overflowed() const { return overflowed_; }
  size_t size() const { return used_; }

 private:
  void add_char(char letter) {
    if (used_ + 1 >= capacity_) {
      overflowed_ = true;
      return;
    }
    buffer_[used_++] = letter;
    buffer_[used_] = '\0';
  }
  char* buffer_;
  size_t capacity_;
  size_t used_ = 0;
  bool overflowed_ = false;
};

/// A decimal number at the start of `text`; `otherwise` when there is none or it is too large.
inline int64_t parse_number(const char* text, int64_t otherwise) {
  if (text == nullptr) return otherwise;
  const bool negative = *text == '-';
  if (negative) ++text;
  if (*text < '0' || *text > '9') return otherwise;
  int64_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    if (number > INT64_MAX / 10 - 1) return otherwise;
    number = number * 10 + (*text - '0');
  }
  return negative ? -number : number;
}

}  // namespace stallscope::collect
