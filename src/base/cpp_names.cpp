#include "base/cpp_names.h"

#include <cctype>

namespace stallscope {
namespace {

constexpr std::string_view kVoid = "void ";
constexpr std::string_view kAnonymous = "(anonymous namespace)::";

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// "f<int>(float, g<1>)": where the parameters at its end begin; its size without any.
size_t end_of_function(std::string_view name) {
  if (!name.ends_with(')')) return name.size();
  size_t depth = 0;
  for (size_t at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at == 0 ? name.size() : at;
  }
  return name.size();
}

// A namespace by custom has no capital letters; a class mostly has one.
bool is_namespace(std::string_view word) {
  for (const char c : word)
    if (std::isupper(static_cast<unsigned char>(c)) != 0) return false;
  return !word.empty();
}

}  // namespace

std::string without_namespaces(std::string_view name) {
  if (name.starts_with(kVoid)) name.remove_prefix(kVoid.size());
  name = name.substr(0, end_of_function(name));
  std::string out;
  while (!name.empty()) {
    if (name.starts_with(kAnonymous)) {
      name.remove_prefix(kAnonymous.size());
      continue;
    }
    size_t word = 0;
    while (word < name.size() && in_word(name[word])) ++word;
    if (word > 0 && name.substr(word).starts_with("::") && is_namespace(name.substr(0, word))) {
      name.remove_prefix(word + 2);
      continue;
    }
    // Demanglers part what old compilers took for a shift.
    if (out.ends_with('>') && name.starts_with(" >")) name.remove_prefix(1);
    const size_t taken = word > 0 ? word : 1;
    out += name.substr(0, taken);
    name.remove_prefix(taken);
  }
  return out;
}

}  // namespace stallscope
