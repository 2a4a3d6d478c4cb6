// What the caches keep, as bytes: a layout visits every field of a type, so that writing and
// reading cannot disagree.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stallscope {

template <typename T>
concept PlainField = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// Layout::describe(io, v) calls io(field) for every field of the class type v.
template <typename Layout>
class FieldWriter {
 public:
  std::string bytes;
  template <typename T>
  void operator()(const T& v) {
    if constexpr (PlainField<T>)
      bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
    else
      Layout::describe(*this, v);
  }
  void operator()(const std::string& text) {
    (*this)(static_cast<uint32_t>(text.size()));
    bytes += text;
  }
  template <typename T>
  void operator()(const std::vector<T>& list) {
    (*this)(static_cast<uint32_t>(list.size()));
    for (const T& item : list) (*this)(item);
  }
};

/// Reads what a FieldWriter of the same layout wrote; reading past the end marks it bad.
template <typename Layout>
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : bytes_(bytes) {}
  bool good() const { return good_ && bytes_.empty(); }
  template <typename T>
  void operator()(T& v) {
    if constexpr (PlainField<T>) {
      if (bytes_.size() < sizeof v) {
        good_ = false;
        return;
      }
      std::memcpy(&v, bytes_.data(), sizeof v);
      bytes_.remove_prefix(sizeof v);
    } else {
      Layout::describe(*this, v);
    }
  }
  void operator()(std::string& text) {
    uint32_t size = 0;
    (*this)(size);
    if (size > bytes_.size()) {
      good_ = false;
      return;
    }
    text.assign(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
  }
  template <typename T>
  void operator()(std::vector<T>& list) {
    uint32_t size = 0;
    (*this)(size);
    list.clear();
    for (uint32_t i = 0; i < size && good_; ++i) (*this)(list.emplace_back());
  }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace stallscope
