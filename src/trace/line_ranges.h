// Sets of lines as text: "1-5,7".
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace stallscope {

/// What is no range is left out; so are lines beyond a million.
std::set<uint32_t> lines_of_ranges(std::string_view text);

std::string ranges_of_lines(const std::set<uint32_t>& lines);

}  // namespace stallscope
