// How much of a file is step and forward code.
#include <algorithm>

#include "source/index.h"

namespace stallscope {

size_t SourceIndex::step_lines(size_t file) const {
  const FileFacts& facts = *files_[file];
  uint32_t last = 0;
  for (const FunctionFacts& f : facts.functions) last = std::max(last, f.last_line);
  // Functions and loops are listed outer first, so the innermost is painted last.
  std::vector<uint32_t> function(last + 1, 0), loop(last + 1, kNone);
  for (uint32_t f = 1; f < facts.functions.size(); ++f) {
    for (uint32_t l = facts.functions[f].first_line; l <= facts.functions[f].last_line; ++l)
      function[l] = f;
  }
  for (uint32_t i = 0; i < facts.loops.size(); ++i) {
    const uint32_t end = std::min(facts.loops[i].last_line, last);
    for (uint32_t l = facts.loops[i].first_line; l <= end; ++l) {
      if (function[l] == facts.loops[i].function) loop[l] = i;
    }
  }
  size_t count = 0;
  for (uint32_t l = 1; l <= last; ++l) {
    const uint16_t bits = contexts_->at(graph_->id_of(file, function[l]), loop[l]);
    if ((bits & (kInStep | kInForward)) != 0) ++count;
  }
  return count;
}

}  // namespace stallscope
