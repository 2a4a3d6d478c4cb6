// What `lint` writes into source: safe fixes and comments that accept findings.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/lint_engine.h"

namespace stallscope {

/// A file of the project, changed.
struct ChangedFile {
  std::string path;  ///< relative to the project's root
  std::string before, after;
  size_t count = 0;  ///< findings that the change is for
};

/// `text` with the rule's safe edit made for one finding; nullopt when there is none to make.
std::optional<std::string> fixed(const Linted& linted, const Finding& finding,
                                 std::string_view text);

/// `text` with a comment that accepts a finding of `rule_id` at `line`; nullopt
/// where no comment can stand.
std::optional<std::string> with_ignore(std::string_view text, std::string_view path, uint32_t line,
                                       std::string_view rule_id);

/// All safe fixes of the findings, by file. Nothing is written.
std::vector<ChangedFile> fix_all(const Linted& linted);

/// All findings accepted by comments, by file. Nothing is written.
std::vector<ChangedFile> ignore_all(const Linted& linted);

/// Writes the changed files.
Status write_changed(const Linted& linted, std::span<const ChangedFile> files);

}  // namespace stallscope
