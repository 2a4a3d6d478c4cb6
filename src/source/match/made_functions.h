// Functions that a place makes anew whenever it runs: by a decorator, or by a compiler's call.
#pragma once

#include "source/facts/condition.h"
#include "source/match/matcher.h"

namespace stallscope {

/// @jax.jit, @jax.jit(...) or @partial(jax.jit, ...): whether one of the clause's `decorates`
/// stands at a function inside another one that calls it itself, and hands it to nobody. A factory
/// of steps is called once, and fit() makes its step before it takes any.
bool decorates_inner(const FileView& file, const SourceClause& clause, NodeId decorator);

/// for optimizer in optimizers: step = jax.jit(update); for i in range(n): step(): whether the
/// loop around what makes a function, which is none over batches, holds another one that calls it.
bool is_used_in_inner_loop(const FileView& file, NodeId maker);

/// self.step = jax.jit(update), return jax.jit(update): whether a function keeps what it makes, or
/// hands it to another one, instead of calling it and no more.
bool is_handed_over(const FileView& file, NodeId maker);

}  // namespace stallscope
