// TextWindow: the part of a stream that is being looked at, contiguous and
// padded as parsers want it.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "import/byte_stream.h"

namespace stallscope {

class TextWindow {
 public:
  explicit TextWindow(BlockStream& stream);

  /// What is held and not yet consumed. Invalidated by hold().
  std::string_view text() const { return {begin_, size()}; }
  char* data() { return begin_; }
  bool at_end() const { return at_end_; }
  /// Why the stream could not be read on, if that is what ended it.
  const std::optional<Error>& error() const { return error_; }
  /// Bytes of the inflated text consumed so far.
  uint64_t position() const { return position_; }

  void consume(size_t bytes) {
    begin_ += bytes;
    position_ += bytes;
  }

  /// Holds at least `bytes` unless the stream ends first. One byte before the
  /// text and kParsePadding bytes behind it may be written to.
  Status hold(size_t bytes);

 private:
  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  void append(std::span<char> block);
  void append_to_own(std::span<const char> block);

  BlockStream& stream_;
  std::vector<char> own_;  // for text that spans blocks
  char *begin_, *end_;     // in a block of the stream or in own_
  bool in_own_ = true;
  uint64_t position_ = 0;
  bool at_end_ = false;
  std::optional<Error> error_;
};

}  // namespace stallscope
