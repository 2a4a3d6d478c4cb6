// The lines that a diff of git adds or changes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stallscope {

/// Per file: first and last line of each change.
using LinesOfFiles = std::map<std::string, std::vector<std::pair<uint32_t, uint32_t>>>;

/// Of a unified diff with the prefixes a/ and b/; `folder` goes in front of each file's name.
void add_changed_lines(std::string_view diff, const std::string& folder, LinesOfFiles& out);

}  // namespace stallscope
