#include "analyze/observe_parts.h"

namespace stallscope {

ThreadIdle::ThreadIdle(const RankContext& context, std::optional<StepClass> only)
    : idle_(context.index.threads.size()) {
  std::vector<UnionBuilder> builders(idle_.size());
  for (const IdlePiece& piece : context.idle) {
    if (piece.thread == kNoIndex || context.used_rank[piece.step] == kNoIndex ||
        piece.step_class == StepClass::other || piece.step_class != only.value_or(piece.step_class))
      continue;
    builders[piece.thread].add(piece.start, piece.end);
  }
  for (size_t i = 0; i < idle_.size(); ++i) idle_[i] = builders[i].take();
}

Ns ThreadIdle::overlap(uint32_t thread, Ns start, Ns end) const {
  return stallscope::overlap(idle_[thread], start, end);
}

}  // namespace stallscope
