// What `lint` writes into source: fixes and comments that accept findings.
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

/// `text` with the rule's edit made for one finding, whatever its grade; nullopt when there is none
/// to make.
std::optional<std::string> fixed(const Linted& linted, const Finding& finding,
                                 std::string_view text);

/// `text` with a comment that accepts a finding of `rule_id` at `line`; nullopt
/// where no comment can stand.
std::optional<std::string> with_ignore(std::string_view text, std::string_view path, uint32_t line,
                                       std::string_view rule_id);

/// Which edits --fix makes.
enum class FixGrade : uint8_t {
  safe,       ///< the program computes what it did
  suggestion  ///< also those that may change what it does
};

/// Findings that have an edit of this very grade.
size_t count_fixable(const Linted& linted, FixGrade grade);

/// All fixes of `linted`, by file, up to the grade, and those that they make room for, until none
/// is left: one fix may stand inside another. Nothing is written.
Result<std::vector<ChangedFile>> fix_all(const LintSettings& settings, const Linted& linted,
                                         FixGrade most);

/// All findings accepted by comments, by file. Nothing is written.
std::vector<ChangedFile> ignore_all(const Linted& linted);

/// Writes the changed files.
Status write_changed(const Linted& linted, std::span<const ChangedFile> files);

}  // namespace stallscope
