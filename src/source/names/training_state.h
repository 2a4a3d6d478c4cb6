// Programs of JAX keep the state of training in values that each step replaces: by the names of
// these a call shows that it runs one.
#pragma once

#include "source/syntax/ast.h"

namespace stallscope {

/// Whether a call is told to replace a state of training that it is given:
/// params, opt_state, loss = step(params, opt_state, batch), but not env_state = step(env_state,
/// a).
bool replaces_training_state(const Ast& ast, NodeId call);

/// Whether gradients are among what a call gives: loss, grads = loss_fn(params, batch).
bool names_gradients(const Ast& ast, NodeId call);

}  // namespace stallscope
