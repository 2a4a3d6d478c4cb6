// Whatever bytes are given as source: suppressions that lie inside the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rule/comments.h"
#include "rule/suppress.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stallscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  uint32_t lines = 1;
  for (const char c : text) lines += c == '\n';
  for (const CommentStyle style :
       {CommentStyle::hash, CommentStyle::slashes, CommentStyle::shell, CommentStyle::yaml}) {
    uint32_t last = 0;
    for (const Comment& comment : comments_of(text, style)) {
      if (comment.line < last || comment.line > lines) __builtin_trap();
      const LineRange about = comment.about;
      if (about.first > about.last || about.last > lines) __builtin_trap();
      if (comment.alone && about.last != 0 && about.last <= comment.line) __builtin_trap();
      if (!comment.alone && (comment.line < about.first || comment.line > about.last))
        __builtin_trap();
      last = comment.line;
    }
    for (const Suppression& suppression : parse_suppressions(text, style).list)
      if (suppression.ids.empty() || suppression.line > lines) __builtin_trap();
  }
  return 0;
}
