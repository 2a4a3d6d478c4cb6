#include "rule/yaml_reader.h"

#include <algorithm>
#include <set>

#include "base/suggest.h"

namespace stallscope {
namespace {

constexpr size_t kLargestFile = 256 * 1024;  // a rule file has about 2 KB
constexpr int kMostNodes = 20'000;
constexpr int kDeepest = 24;

std::string list_of(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

// Visits each node as often as it is reached, so that aliases cannot multiply
// unseen, and stops a document that contains itself.
void check_size(const std::string& file, const YAML::Node& node, int depth, int& visited) {
  if (++visited > kMostNodes) yaml_fail(file, node, "file has too many values (or aliases)");
  if (depth > kDeepest) yaml_fail(file, node, "values are nested too deeply");
  if (node.IsSequence()) {
    for (const YAML::Node& item : node) check_size(file, item, depth + 1, visited);
  } else if (node.IsMap()) {
    std::set<std::string> seen;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) yaml_fail(file, entry.first, "a key must be a plain text");
      if (!seen.insert(entry.first.Scalar()).second)
        yaml_fail(file, entry.first, "key '" + entry.first.Scalar() + "' is given twice");
      check_size(file, entry.second, depth + 1, visited);
    }
  }
}

// The line of a '---' that stands behind content; 0 = none.
size_t second_document(std::string_view text) {
  bool content = false;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with("---")) {
      if (content) return number;
    } else if (const size_t first = line.find_first_not_of(" \t\r");
               first != std::string_view::npos && line[first] != '#') {
      content = true;
    }
  }
  return 0;
}

}  // namespace

void yaml_fail(const std::string& file, const YAML::Node& at, std::string message,
               std::string remedy) {
  const YAML::Mark mark = at.Mark();
  Error error{.message = std::move(message), .file = file, .remedy = std::move(remedy)};
  if (mark.line >= 0) {
    error.line = static_cast<uint64_t>(mark.line) + 1;
    error.column = static_cast<uint64_t>(mark.column) + 1;
  }
  throw YamlError{std::move(error)};
}

YAML::Node parse_yaml(std::string_view text, const std::string& file) {
  if (text.size() > kLargestFile)
    throw YamlError{Error{.message = "file is larger than 256 KiB", .file = file}};
  if (text.find('\0') != std::string_view::npos)
    throw YamlError{Error{.message = "file contains a NUL byte", .file = file}};
  if (const size_t line = second_document(text); line != 0)
    throw YamlError{Error{.message = "file holds more than one document",
                          .file = file,
                          .line = line,
                          .column = 1,
                          .remedy = "Remove the '---' that begins the second."}};
  // Not LoadAll: yaml-cpp 0.7 never comes back from some broken documents ("&a, b").
  const YAML::Node root = YAML::Load(std::string(text));
  if (!root || root.IsNull()) throw YamlError{Error{.message = "file is empty", .file = file}};
  int visited = 0;
  check_size(file, root, 0, visited);
  return root;
}

void yaml_unknown(const std::string& file, const YAML::Node& at, std::string_view what,
                  std::string_view found, std::span<const std::string_view> known) {
  const std::string near = suggestion(found, known);
  yaml_fail(
      file, at,
      "unknown " + std::string(what) + " '" + std::string(found) + "'" + (near.empty() ? "" : near),
      "Expected one of: " + list_of(known) + ".");
}

void expect_keys(const std::string& file, const YAML::Node& node, std::string_view what,
                 std::span<const std::string_view> known) {
  if (!node.IsMap()) yaml_fail(file, node, std::string(what) + " must be a map of keys to values");
  for (const auto& entry : node) {
    const std::string& key = entry.first.Scalar();
    if (std::ranges::find(known, key) == known.end())
      yaml_unknown(file, entry.first, "key", key, known);
  }
}

std::string yaml_text(const std::string& file, const YAML::Node& node, std::string_view what) {
  if (!node.IsScalar()) yaml_fail(file, node, std::string(what) + " must be a text");
  if (node.Scalar().empty()) yaml_fail(file, node, std::string(what) + " is empty");
  return node.Scalar();
}

bool yaml_bool(const std::string& file, const YAML::Node& node, std::string_view what) {
  bool value = false;
  if (!node.IsScalar() || !YAML::convert<bool>::decode(node, value))
    yaml_fail(file, node, std::string(what) + " must be true or false");
  return value;
}

double yaml_number(const std::string& file, const YAML::Node& node, std::string_view what) {
  double value = 0;
  if (!node.IsScalar() || !YAML::convert<double>::decode(node, value))
    yaml_fail(file, node, std::string(what) + " must be a number");
  return value;
}

std::vector<std::string> yaml_texts(const std::string& file, const YAML::Node& node,
                                    std::string_view what) {
  if (node.IsScalar()) return {yaml_text(file, node, what)};
  if (!node.IsSequence()) yaml_fail(file, node, std::string(what) + " must be a list of texts");
  std::vector<std::string> texts;
  for (const YAML::Node& item : node)
    texts.push_back(yaml_text(file, item, "an item of " + std::string(what)));
  return texts;
}

Status catch_yaml(const std::string& file, const std::function<void()>& read) {
  try {
    read();
    return ok_status();
  } catch (const YamlError& error) {
    return error.error;
  } catch (const YAML::Exception& error) {
    Error result{.message = "not valid YAML: " + error.msg, .file = file};
    if (error.mark.line >= 0) {
      result.line = static_cast<uint64_t>(error.mark.line) + 1;
      result.column = static_cast<uint64_t>(error.mark.column) + 1;
    }
    return result;
  }
}

}  // namespace stallscope
