// Settings: what launch scripts and configuration files set, as flat names and
// values, whatever the format: JSON, YAML, shell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "source/facts/facts.h"
#include "source/match/ruleset.h"

namespace stallscope {

/// `name` is a path of keys ("zero_optimization.overlap_comm"), an option as a
/// command line gives it ("--num-workers"), or a variable ("$NCCL_DEBUG").
struct Setting {
  std::string name;
  std::string value;  ///< without quotes; empty for an option that has none
  uint32_t first_byte = 0, last_byte = 0;
  uint32_t line = 1;  ///< 1-based
};

/// Larger files are data, not settings.
inline constexpr size_t kLargestSettings = 256 << 10;

/// Whether a file of this name may hold settings.
bool is_settings_file(std::string_view path);

/// Whether a file of this name, which no rule is about, may tell what options programs are given:
/// configurations in further formats, and documents that show command lines.
bool is_options_file(std::string_view path);
/// Whether it is a document.
bool is_document(std::string_view path);

/// Every setting of a file, in order. Broken text gives what could be read.
std::vector<Setting> settings_of(std::string_view path, std::string_view bytes);

/// Whether a rule's name for a setting means it: names of keys by their last
/// components, so that "overlap_comm" is found however deep it lies.
bool names_setting(std::string_view wanted, std::string_view name);

/// Appends the places where a clause's settings all hold to `facts.candidates`.
void collect_settings(std::string_view bytes, const RuleSet& rules, FileFacts& facts);

}  // namespace stallscope
