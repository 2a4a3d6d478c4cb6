#include "rule/yaml_values.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace stallscope {
namespace {

/// A value as its first line tells it.
struct ValueStart {
  size_t indent = 0;  ///< what belongs to it stands deeper
  bool block = false;
};

/// Where the value of a mapping begins behind its key, which is one word; npos when `line` maps
/// nothing.
size_t behind_key(std::string_view line, size_t key) {
  const size_t end = std::min(line.find_first_of(" \t", key), line.size());
  return end > key && line[end - 1] == ':' ? end : std::string_view::npos;
}

/// The value that begins in a line; nullopt when none does.
std::optional<ValueStart> value_start(std::string_view line, size_t at) {
  ValueStart out{.indent = at};
  bool item = false;
  while (line.substr(at).starts_with("- ")) {
    item = true;
    out.indent = at;
    at = std::min(line.find_first_not_of(" \t", at + 1), line.size());
  }
  const size_t behind = behind_key(line, at);
  if (behind != std::string_view::npos) {
    out.indent = at;
    at = behind;
  } else if (!item) {
    // A value on a line of its own: what goes on with it may stand as deep as it does.
    if (at == 0) return std::nullopt;
    out.indent = at - 1;
  }
  std::string_view value = trimmed(line.substr(at));
  // &anchor |, !!str >
  while (value.starts_with('&') || value.starts_with('!')) {
    const size_t blank = value.find(' ');
    value = blank == std::string_view::npos ? "" : trimmed(value.substr(blank));
  }
  if (value.empty() || value.starts_with('#')) return std::nullopt;
  out.block = value.starts_with('|') || value.starts_with('>');
  return out;
}

}  // namespace

std::vector<YamlValue> yaml_values(std::string_view text) {
  std::vector<YamlValue> out;
  std::optional<ValueStart> open;
  YamlValue value;
  const auto close = [&] {
    if (open && value.last_line > value.first_line) out.push_back(value);
    open.reset();
  };
  uint32_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    begin = end + 1;
    ++number;
    const size_t indent = line.find_first_not_of(" \t");
    if (indent == std::string_view::npos) continue;
    const bool comment = line[indent] == '#';
    if (open && indent > open->indent && (open->block || !comment)) {
      value.last_line = number;
      continue;
    }
    close();
    if (!comment) open = value_start(line, indent);
    if (open) value = {.first_line = number, .last_line = number, .block = open->block};
  }
  close();
  return out;
}

}  // namespace stallscope
