// Words in names: what roles are told by.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace stallscope {

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> words);

/// Whether `text` is one of `words`.
bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words);

/// Whether one of the underscore-separated words of `name` is in `words`.
bool has_word(std::string_view name, std::initializer_list<std::string_view> words);

/// Whether a decorator or a `with` says that no gradients are wanted.
bool says_without_grad(std::string_view code);

}  // namespace stallscope
