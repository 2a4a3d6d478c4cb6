// Strict reading of YAML, shared by rule files and project files. Inside, problems
// travel as YamlError; callers turn it into a Result at the border.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/yaml.h"

namespace stallscope {

struct YamlError {
  Error error;
};

/// Throws YamlError with the place of `at`.
[[noreturn]] void yaml_fail(const std::string& file, const YamlNode& at, std::string message,
                            std::string remedy = {});

/// The one document in `text`; nothing where it says nothing. Bounded in bytes, nodes and depth
/// (aliases count at each use), duplicate keys refused.
YamlNode parse_yaml(std::string_view text, const std::string& file);

/// Fails unless `node` is a map with no other keys than `known`; `what` names it in the message.
void expect_keys(const std::string& file, const YamlNode& node, std::string_view what,
                 std::span<const std::string_view> known);

/// The scalar text of `node`; fails on maps, lists and nothing.
std::string yaml_text(const std::string& file, const YamlNode& node, std::string_view what);
bool yaml_bool(const std::string& file, const YamlNode& node, std::string_view what);
double yaml_number(const std::string& file, const YamlNode& node, std::string_view what);

/// A list of texts; one text stands for a list of one.
std::vector<std::string> yaml_texts(const std::string& file, const YamlNode& node,
                                    std::string_view what);

/// Fails with the nearest of `known`: "unknown severity 'hihg', did you mean 'high'?".
[[noreturn]] void yaml_unknown(const std::string& file, const YamlNode& at, std::string_view what,
                               std::string_view found, std::span<const std::string_view> known);

/// Runs `read` and turns the YamlError it throws into an Error.
Status catch_yaml(const std::function<void()>& read);

}  // namespace stallscope
