// Functions that a place makes anew whenever it runs: by a decorator, or by a compiler's call.
#pragma once

#include "source/facts/condition.h"
#include "source/match/matcher.h"

namespace stallscope {

/// @jax.jit, @jax.jit(...) or @partial(jax.jit, ...): whether it is one of the clause's
/// `decorates`.
bool decorates(const FileView& file, const SourceClause& clause, NodeId decorator);

/// Whether the function that a decorator stands at is inside another one that calls it itself, and
/// hands it to nobody. A factory of steps is called once, and fit() makes its step before it takes
/// any.
bool is_used_there(const FileView& file, NodeId decorator);

/// def gradients(params, x): return jax.value_and_grad(loss)(params, x): whether what is compiled,
/// by a decorator or by a call, takes what is trained, gives its gradients and leaves the update to
/// others.
bool gives_gradients_back(const FileView& file, NodeId maker);

/// for optimizer in optimizers: step = jax.jit(update); for i in range(n): step(): whether the
/// loop around what makes a function, which is none over batches, holds another one that calls it.
bool is_used_in_inner_loop(const FileView& file, NodeId maker);

/// self.step = jax.jit(update), return jax.jit(update): whether a function keeps what it makes, or
/// hands it to another one, instead of calling it and no more.
bool is_handed_over(const FileView& file, NodeId maker);

}  // namespace stallscope
