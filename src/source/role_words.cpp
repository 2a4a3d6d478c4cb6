#include "source/role_words.h"

#include <algorithm>

#include "base/text.h"
#include "source/names.h"

namespace stallscope {

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [text](std::string_view w) { return text.starts_with(w); });
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool has_word(std::string_view name, std::initializer_list<std::string_view> words) {
  for (size_t at = 0; at < name.size();) {
    size_t end = std::min(name.find_first_of("_-", at), name.size());
    if (is_one_of(name.substr(at, end - at), words)) return true;
    at = end + 1;
  }
  return false;
}

bool says_without_grad(std::string_view code) {
  return contains_any(code, {"no_grad", "inference_mode"});
}

}  // namespace stallscope
