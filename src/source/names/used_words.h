// Used words: what C++ names other than to declare it. What no file of a program uses never runs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stallscope {

/// Shorter words are left out.
inline constexpr size_t kShortestUsedWord = 3;

/// Hashes (see name_hash) of the words of C++ or CUDA text, sorted; not those of comments, nor one
/// that only stands where a function of that name is declared or defined: `float norm(int n)`,
/// `void Net::fit()`. `main` stands for a program that begins here.
std::vector<uint32_t> used_words(std::string_view source);

}  // namespace stallscope
