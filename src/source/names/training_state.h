// Programs of JAX keep the state of training in values that each step replaces: by the names of
// these a call shows that it runs one.
#pragma once

#include <span>

#include "source/syntax/ast.h"

namespace stallscope {

/// Whether a call is told to replace a state of training that it is given:
/// params, opt_state, loss = step(params, opt_state, batch), but not env_state = step(env_state,
/// a).
bool replaces_training_state(const Ast& ast, NodeId call);

/// Whether a call replaces a state of training that it is given by position, beside the positions
/// in `donated`: `params, state = step(rng, params, state)` of donate_argnums=0.
bool replaces_beside(const Ast& ast, NodeId call, std::span<const uint32_t> donated);

/// Whether a function's name says that it is one step of training: pretrain_step, _sgd_step,
/// p_train_step, train_pjit; not eval_step and not train_epoch.
bool names_training_step(std::string_view function);

/// Whether a learner's own step replaces its state:
/// self._state, metrics = self._sgd_step(self._state, batch).
bool updates_own_state(const Ast& ast, NodeId call);

/// electrons, metrics = trainer.step(electrons, batch)
bool steps_trainer(const Ast& ast, NodeId call);

/// obs, env_state, reward, done, info = env.step(key, env_state, action): an environment that is a
/// function of its state lies on the device, and so does all that it gives.
bool steps_environment_state(const Ast& ast, NodeId call);

/// worker.send(("step", action)): `callee` is of a message to the process that has the environment.
bool sends_step(const Ast& ast, NodeId callee);

/// Whether gradients are among what a call gives: loss, grads = loss_fn(params, batch).
bool names_gradients(const Ast& ast, NodeId call);

/// state, info = walk(state, key): the result replaces what the call is given, a random key aside.
bool replaces_argument(const Ast& ast, NodeId call);

}  // namespace stallscope
