#include "source/facts/type_facts.h"

#include <sys/stat.h>

#include <algorithm>
#include <tuple>
#include <type_traits>

#include "source/facts/field_bytes.h"

namespace stallscope {
namespace {

struct TypesLayout {
  template <typename Io, typename T>
  static void describe(Io& io, T& v) {
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

std::optional<HeaderStamp> stamp_of(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return HeaderStamp{path, static_cast<uint64_t>(info.st_size),
                     int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

std::string to_bytes(const ClangTypes& types) {
  FieldWriter<TypesLayout> writer;
  writer(types);
  return std::move(writer.bytes);
}

bool from_bytes(std::string_view bytes, ClangTypes& out) {
  FieldReader<TypesLayout> reader(bytes);
  reader(out);
  return reader.good() && names_exist(out);
}

}  // namespace stallscope
