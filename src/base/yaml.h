// A YAML document as it was written: texts, lists and maps with their places.
// libyaml reads it; what values mean is for whoever asks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stallscope {

struct YamlDocument;
struct YamlEntry;

/// A value of a document, which it keeps alive; or nothing, where a key is not there.
class YamlNode {
 public:
  YamlNode() = default;
  explicit operator bool() const { return index_ != 0; }

  /// A scalar other than `null`, `~` or an empty plain one.
  bool is_text() const;
  bool is_list() const;
  bool is_map() const;
  bool is_null() const;

  /// The scalar's text; empty for anything else.
  std::string text() const;
  /// The items of a list; none of anything else.
  std::vector<YamlNode> items() const;
  /// The entries of a map in the order of the file; none of anything else.
  std::vector<YamlEntry> entries() const;
  /// The value of a map's key: the first, if it is given twice.
  YamlNode operator[](std::string_view key) const;

  /// Where it begins, from 1; 0 for nothing.
  uint64_t line() const;
  uint64_t column() const;

  /// The lines it was written in, without the indentation they share.
  std::string written() const;

 private:
  friend Result<YamlNode> read_yaml(std::string_view text, const std::string& file);
  YamlNode(std::shared_ptr<const YamlDocument> document, int index)
      : document_(std::move(document)), index_(index) {}

  std::shared_ptr<const YamlDocument> document_;
  int index_ = 0;  ///< from 1; 0 = nothing
};

struct YamlEntry {
  YamlNode key;
  YamlNode value;
};

/// The one document in `text`, UTF-8; nothing when there is none. Anchors may make a value part of
/// several others, or of itself. At most 64 values deep. Errors name `file`, line and column.
Result<YamlNode> read_yaml(std::string_view text, const std::string& file);

}  // namespace stallscope
