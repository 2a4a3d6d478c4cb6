// Suppression comments in source:
//   x = loss.item()  # stallscope: ignore[item-in-step] read once per epoch
//   // stallscope: ignore[explicit-sync, host-sync] the next line, in C++
//   # stallscope: ignore-file[no-compile] shapes change in every step
// A comment behind code is about its own line, one on a line of its own about
// the next line of code; where a backslash, a text or a YAML value joins lines,
// about all of them. Behind code, another tool's comment may stand before it:
//   x = loss.item()  # type: ignore  # stallscope: ignore[item-in-step]
// A word in brackets is a rule id; `*` is every rule.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rule/finding.h"

namespace stallscope {

enum class CommentStyle : uint8_t {
  hash,     ///< Python, TOML: # to the end of the line
  slashes,  ///< C++ and CUDA: // and /* */; JSON has none, but people write these
  shell,    ///< # where a word begins; texts and here-documents hold lines
  yaml      ///< # behind a blank; a value may go on in deeper lines
};
/// As the analysis reads the file: by its language, and Python where it has none.
CommentStyle comment_style(std::string_view file);

struct Suppression {
  bool whole_file = false;                 ///< ignore-file
  uint32_t line = 0;                       ///< of the comment, 1-based
  uint32_t first_line = 0, last_line = 0;  ///< what it covers; 1 and 0xffffffff for a file
  std::vector<std::string> ids;            ///< at least one; "*" = every rule
  std::string reason;                      ///< may be empty
  bool covers(std::string_view rule_id, uint32_t at) const;
};

/// A comment that means to suppress and does not.
struct SuppressionProblem {
  uint32_t line = 0;
  std::string message;
};

struct Suppressions {
  std::vector<Suppression> list;
  std::vector<SuppressionProblem> problems;
};

/// Reads the comments of one file; text inside string literals is no comment.
/// Never fails: broken source gives the comments that can be seen.
Suppressions parse_suppressions(std::string_view text, CommentStyle style);

/// A suppression that silenced nothing.
struct UnusedSuppression {
  std::string file;
  uint32_t line = 0;
  std::string id;
};

/// Takes suppressed findings out of `findings` and says which suppressions
/// were of no use. `by_file` is keyed as the findings' primary locations are.
struct SuppressionOutcome {
  std::vector<Finding> suppressed;
  std::vector<UnusedSuppression> unused;
};
SuppressionOutcome apply_suppressions(std::vector<Finding>& findings,
                                      const std::map<std::string, Suppressions>& by_file);

}  // namespace stallscope
