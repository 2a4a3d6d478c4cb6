// StringTable: each distinct text is stored once and named by a 32-bit id.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace stallscope {

using StringId = uint32_t;  ///< 0 is always the empty string

/// Append-only interner. Views handed out stay valid for the table's life.
class StringTable {
 public:
  StringTable();
  StringTable(StringTable&&) noexcept = default;
  StringTable& operator=(StringTable&&) noexcept = default;

  /// The id of `text`, added if new.
  StringId intern(std::string_view text);

  /// The id of `text`, or 0 when it was never interned.
  StringId find(std::string_view text) const;

  std::string_view text(StringId id) const { return id < texts_.size() ? texts_[id] : texts_[0]; }
  size_t size() const { return texts_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  void grow();
  size_t slot_of(std::string_view text, uint64_t hash) const;
  std::string_view store(std::string_view text);

  std::vector<std::string_view> texts_;
  std::vector<uint32_t> hashes_;
  std::vector<uint32_t> slots_;  // open addressing; 0 = empty, else id + 1
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_used_ = 0;
  size_t block_size_ = 0;
  size_t bytes_ = 0;
};

}  // namespace stallscope
