// TextWindow: the part of a stream that is being looked at, contiguous and
// padded as parsers want it.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "import/byte_stream.h"

namespace stallscope {

class TextWindow {
 public:
  explicit TextWindow(ByteStream& stream);

  /// What is held and not yet consumed. Invalidated by grow().
  std::string_view text() const { return {buffer_.data() + begin_, end_ - begin_}; }
  char* data() { return buffer_.data() + begin_; }
  bool at_end() const { return at_end_; }
  /// Bytes of the inflated text consumed so far.
  uint64_t position() const { return position_; }

  void consume(size_t bytes) {
    begin_ += bytes;
    position_ += bytes;
  }

  /// Holds at least `bytes` unless the stream ends first. One byte before the
  /// text and kParsePadding bytes behind it always belong to the buffer.
  Status hold(size_t bytes);

 private:
  ByteStream& stream_;
  std::vector<char> buffer_;
  size_t begin_ = 1, end_ = 1;
  uint64_t position_ = 0;
  bool at_end_ = false;
};

}  // namespace stallscope
