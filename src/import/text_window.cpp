#include "import/text_window.h"

#include <cstring>

#include "import/event_parser.h"

namespace stallscope {

TextWindow::TextWindow(ByteStream& stream) : stream_(stream), buffer_(1 + kParsePadding, ' ') {}

Status TextWindow::hold(size_t bytes) {
  if (at_end_ || end_ - begin_ >= bytes) return ok_status();
  // Moving what is left to the front costs one pass over less than a batch.
  std::memmove(buffer_.data() + 1, buffer_.data() + begin_, end_ - begin_);
  end_ = 1 + (end_ - begin_);
  begin_ = 1;
  if (buffer_.size() < 1 + bytes + kParsePadding) buffer_.resize(1 + bytes + kParsePadding);
  while (end_ - begin_ < bytes) {
    Result<size_t> got =
        stream_.read({buffer_.data() + end_, buffer_.size() - kParsePadding - end_});
    if (!got) return got.error();
    if (*got == 0) {
      at_end_ = true;
      break;
    }
    end_ += *got;
  }
  std::memset(buffer_.data() + end_, ' ', kParsePadding);
  return ok_status();
}

}  // namespace stallscope
