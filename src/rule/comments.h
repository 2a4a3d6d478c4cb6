// The comments of a source file, found without parsing it: string literals are
// skipped, nothing else is understood, so that broken source gives comments too.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rule/suppress.h"

namespace stallscope {

/// Lines first to last, 1-based; 0 and 0 = none.
struct LineRange {
  uint32_t first = 0, last = 0;
};

struct Comment {
  std::string_view text;  ///< without its sign
  uint32_t line = 0;      ///< 1-based
  bool alone = false;     ///< no code before it on its line
  LineRange about;        ///< its own line or the next that holds code, with what is joined to it
};

std::vector<Comment> comments_of(std::string_view text, CommentStyle style);

/// The lines that are joined to `line`, which is one of them: by a backslash, by a text of many
/// lines or as one value of YAML. A comment between two of them would be part of the program.
LineRange joined_lines(std::string_view text, CommentStyle style, uint32_t line);

}  // namespace stallscope
