#include "source/clang_types.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <type_traits>

namespace stallscope {
namespace {

/// Visits every field, so that writing and reading cannot disagree.
template <typename Io, typename T>
void describe(Io& io, T& v) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, TypedRange>) {
    io(v.first), io(v.last), io(v.type), io(v.name);
  } else if constexpr (std::is_same_v<Plain, ResolvedCall>) {
    io(v.first), io(v.last), io(v.name);
  } else if constexpr (std::is_same_v<Plain, HiddenPart>) {
    io(v.first), io(v.last), io(v.name);
  } else if constexpr (std::is_same_v<Plain, HiddenCall>) {
    io(v.first), io(v.last), io(v.name), io(v.method), io(v.receiver), io(v.arguments);
  } else if constexpr (std::is_same_v<Plain, HeaderStamp>) {
    io(v.path), io(v.bytes), io(v.modified_ns);
  } else {
    io(v.names), io(v.types), io(v.calls), io(v.hidden), io(v.headers), io(v.real_headers);
  }
}

template <typename T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Writer {
 public:
  std::string bytes;
  template <typename T>
  void operator()(const T& v) {
    if constexpr (Plain<T>)
      bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
    else
      describe(*this, v);
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

/// Reading past the end gives zeros and marks it bad.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool good() const { return good_ && bytes_.empty(); }
  template <typename T>
  void operator()(T& v) {
    if constexpr (Plain<T>) {
      if (bytes_.size() < sizeof v) {
        good_ = false;
        return;
      }
      std::memcpy(&v, bytes_.data(), sizeof v);
      bytes_.remove_prefix(sizeof v);
    } else {
      describe(*this, v);
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

template <typename T>
const T* find_range(const std::vector<T>& sorted, uint32_t first, uint32_t last) {
  const auto found = std::ranges::lower_bound(
      sorted, std::pair(first, last), {}, [](const T& r) { return std::pair(r.first, r.last); });
  return found != sorted.end() && found->first == first && found->last == last ? &*found : nullptr;
}

bool names_exist(const ClangTypes& types) {
  const auto known = [&](const auto& item) { return item.name < types.names.size(); };
  return std::ranges::all_of(types.types, known) && std::ranges::all_of(types.calls, known) &&
         std::ranges::all_of(types.hidden, [&](const HiddenCall& call) {
           return known(call) && known(call.receiver) && std::ranges::all_of(call.arguments, known);
         });
}

}  // namespace

const TypedRange* ClangTypes::at(uint32_t first, uint32_t last) const {
  return find_range(types, first, last);
}

std::string_view ClangTypes::callee(uint32_t first, uint32_t last) const {
  const ResolvedCall* found = find_range(calls, first, last);
  return found ? std::string_view(names[found->name]) : std::string_view();
}

std::string to_bytes(const ClangTypes& types) {
  Writer writer;
  writer(types);
  return std::move(writer.bytes);
}

bool from_bytes(std::string_view bytes, ClangTypes& out) {
  Reader reader(bytes);
  reader(out);
  return reader.good() && names_exist(out);
}

}  // namespace stallscope
