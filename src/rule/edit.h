// Edits: the changes of `lint --fix`, made only where what the rule states
// about the matched call can be seen to hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rule/rule.h"

namespace stallscope {

/// Replaces the bytes from `first` to before `last` of a file.
struct TextEdit {
  size_t first = 0, last = 0;
  std::string text;
};

/// The call a rule matched, as bytes of its file behind a byte order mark.
struct MatchedCall {
  uint32_t first_byte = 0, last_byte = 0;
};

/// What `edit` does to one matched call of a Python file; nothing when the
/// call has another form than the edit knows to be safe.
std::vector<TextEdit> edits_of(const CallEdit& edit, std::string_view source,
                               const MatchedCall& call);

/// `source` with one match's edits made; nullopt when they overlap or the
/// result does not parse as well as `source` does.
std::optional<std::string> apply_edits(std::string_view source, std::vector<TextEdit> edits);

/// The difference of two texts as a unified diff with three lines around each
/// change; empty when they are equal.
std::string unified_diff(std::string_view name, std::string_view before, std::string_view after);

}  // namespace stallscope
