#include "import/text_window.h"

#include <cstring>

#include "import/event_parser.h"

namespace stallscope {

TextWindow::TextWindow(BlockStream& stream)
    : stream_(stream), own_(1 + kParsePadding, ' '), begin_(own_.data() + 1), end_(begin_) {}

Status TextWindow::hold(size_t bytes) {
  while (!at_end_ && size() < bytes) {
    Result<std::span<char>> block = stream_.next();
    if (!block) return *(error_ = block.error());
    at_end_ = block->empty();
    if (!at_end_) append(*block);
  }
  return ok_status();
}

void TextWindow::append(std::span<char> block) {
  const size_t left = size();
  if (left < kBlockHeadroom) {
    // What is left of the block before goes in front of this one.
    begin_ = static_cast<char*>(std::memcpy(block.data() - left, begin_, left));
    end_ = block.data() + block.size();
    in_own_ = false;
  } else {
    append_to_own(block);
  }
  std::memset(end_, ' ', kParsePadding);
}

void TextWindow::append_to_own(std::span<const char> block) {
  const size_t left = size();
  if (in_own_) {
    if (begin_ != own_.data() + 1) std::memmove(own_.data() + 1, begin_, left);
    own_.resize(1 + left + block.size() + kParsePadding);
  } else {
    own_.resize(1 + left + block.size() + kParsePadding);
    std::memcpy(own_.data() + 1, begin_, left);
    in_own_ = true;
  }
  begin_ = own_.data() + 1;
  end_ = begin_ + left + block.size();
  std::memcpy(begin_ + left, block.data(), block.size());
}

}  // namespace stallscope
