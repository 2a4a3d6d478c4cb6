// "Did you mean ...?"
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stallscope {

/// The known word nearest to `word` by edit distance (a swap of neighbours
/// counts once, capitals do not count); empty when none is within a third of its length.
std::string nearest_word(std::string_view word, std::span<const std::string_view> known);

/// ", did you mean 'x'?" or nothing.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace stallscope
