#include "rule/yaml_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>

#include "base/suggest.h"
#include "base/text.h"

namespace stallscope {
namespace {

constexpr size_t kLargestText = 256 * 1024;  // a rule file has about 2 KB
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
void check_size(const std::string& file, const YamlNode& node, int depth, int& visited) {
  if (++visited > kMostNodes) yaml_fail(file, node, "file has too many values (or aliases)");
  if (depth > kDeepest) yaml_fail(file, node, "values are nested too deeply");
  if (node.is_list()) {
    for (const YamlNode& item : node.items()) check_size(file, item, depth + 1, visited);
  } else if (node.is_map()) {
    std::set<std::string> seen;
    for (const YamlEntry& entry : node.entries()) {
      if (!entry.key.is_text()) yaml_fail(file, entry.key, "a key must be a plain text");
      if (!seen.insert(entry.key.text()).second)
        yaml_fail(file, entry.key, "key '" + entry.key.text() + "' is given twice");
      check_size(file, entry.value, depth + 1, visited);
    }
  }
}

}  // namespace

void yaml_fail(const std::string& file, const YamlNode& at, std::string message,
               std::string remedy) {
  Error error{.message = std::move(message),
              .file = file,
              .line = at.line(),
              .column = at.column(),
              .remedy = std::move(remedy)};
  throw YamlError{std::move(error)};
}

YamlNode parse_yaml(std::string_view text, const std::string& file) {
  if (text.size() > kLargestText)
    throw YamlError{Error{.message = "file is larger than 256 KiB", .file = file}};
  if (text.find('\0') != std::string_view::npos)
    throw YamlError{Error{.message = "file contains a NUL byte", .file = file}};
  const auto read = read_yaml(text, file);
  if (!read) throw YamlError{read.error()};
  const YamlNode& root = *read;
  if (!root || root.is_null()) return YamlNode();
  int visited = 0;
  check_size(file, root, 0, visited);
  return root;
}

void yaml_unknown(const std::string& file, const YamlNode& at, std::string_view what,
                  std::string_view found, std::span<const std::string_view> known) {
  const std::string near = suggestion(found, known);
  yaml_fail(
      file, at,
      "unknown " + std::string(what) + " '" + std::string(found) + "'" + (near.empty() ? "" : near),
      "Expected one of: " + list_of(known) + ".");
}

void expect_keys(const std::string& file, const YamlNode& node, std::string_view what,
                 std::span<const std::string_view> known) {
  if (!node.is_map()) yaml_fail(file, node, std::string(what) + " must be a map of keys to values");
  for (const YamlEntry& entry : node.entries()) {
    const std::string& key = entry.key.text();
    if (std::ranges::find(known, key) == known.end())
      yaml_unknown(file, entry.key, "key", key, known);
  }
}

std::string yaml_text(const std::string& file, const YamlNode& node, std::string_view what) {
  if (!node.is_text()) yaml_fail(file, node, std::string(what) + " must be a text");
  if (node.text().empty()) yaml_fail(file, node, std::string(what) + " is empty");
  return node.text();
}

bool yaml_bool(const std::string& file, const YamlNode& node, std::string_view what) {
  static constexpr std::array<std::string_view, 4> kTrue = {"true", "yes", "on", "y"};
  static constexpr std::array<std::string_view, 4> kFalse = {"false", "no", "off", "n"};
  const std::string word = lower(node.text());
  const bool is_true = std::ranges::find(kTrue, word) != kTrue.end();
  if (!is_true && std::ranges::find(kFalse, word) == kFalse.end())
    yaml_fail(file, node, std::string(what) + " must be true or false");
  return is_true;
}

double yaml_number(const std::string& file, const YamlNode& node, std::string_view what) {
  const std::string text = node.text();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    yaml_fail(file, node, std::string(what) + " must be a number");
  return value;
}

std::vector<std::string> yaml_texts(const std::string& file, const YamlNode& node,
                                    std::string_view what) {
  if (node.is_text()) return {yaml_text(file, node, what)};
  if (!node.is_list()) yaml_fail(file, node, std::string(what) + " must be a list of texts");
  std::vector<std::string> texts;
  for (const YamlNode& item : node.items())
    texts.push_back(yaml_text(file, item, "an item of " + std::string(what)));
  return texts;
}

Status catch_yaml(const std::function<void()>& read) {
  try {
    read();
    return ok_status();
  } catch (const YamlError& error) {
    return error.error;
  }
}

}  // namespace stallscope
