// Generation: what makes outputs of many passes of a model, each on what the last one made. Next to
// those a wait is nothing, and no training runs them.
#pragma once

#include <vector>

#include "source/facts/facts.h"
#include "source/syntax/ast.h"

namespace stallscope {

/// Whether a callee makes outputs of many passes: model.generate, beam_search, self._sample.
bool is_generation(const Ast& ast, NodeId callee);

/// Whether a pass of a model in a loop works on what an earlier pass made, or runs over the steps
/// of a diffusion: `for t in reversed(steps): x = x - model(x, t)`.
bool feeds_back(const Ast& ast, NodeId call, NodeId loop);

/// The forward passes whose decorators say that they want no gradients.
std::vector<uint32_t> forwards_without_grad(const FileFacts& facts);
/// Those of them that generate are no forward passes of training.
void leave_out_generators(const std::vector<uint32_t>& forwards, FileFacts& facts);

}  // namespace stallscope
