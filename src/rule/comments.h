// The comments of a source file, found without parsing it: string literals are
// skipped, nothing else is understood, so that broken source gives comments too.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rule/suppress.h"

namespace stallscope {

struct Comment {
  std::string_view text;        ///< without its sign
  uint32_t line = 0;            ///< 1-based
  bool alone = false;           ///< no code before it on its line
  uint32_t next_code_line = 0;  ///< the next line that holds code; 0 = none
};

std::vector<Comment> comments_of(std::string_view text, CommentStyle style);

}  // namespace stallscope
