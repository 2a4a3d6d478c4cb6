import equinox as eqx
import jax


def load(model, weights):
    for i in range(len(weights)):
        model = eqx.tree_at(lambda m: m.layers[i].weight, model, weights[i])  # expect: tree-rewrite-in-loop
    return model


class Pruner:
    """A mask for each layer, and the whole model rebuilt for each."""

    def prune(self, model, masks):
        for index, mask in enumerate(masks):
            model = eqx.tree_at(  # expect: tree-rewrite-in-loop
                lambda m: m.blocks[index].mlp.weight,
                model,
                model.blocks[index].mlp.weight * mask,
            )
        return model


def add_adapters(params, names, adapters):
    for name in names:
        params = params.set(name, adapters[name])  # expect: tree-rewrite-in-loop
    return jax.device_put(params)


def collect(step, envs, actions, state):
    for t in range(1000):
        state, done, final = step(state, actions)
        seen = state.observation
        for i, over in enumerate(done):
            if over:
                seen = seen.at[i].set(final[i])  # expect: tree-rewrite-in-loop
        state = update_step(state, seen)
    return state


class Replay:
    def __init__(self, size):
        self.seen = jnp.zeros(size)
        self.index = 0

    def add(self, value):
        self.seen = self.seen.at[self.index].set(value)  # expect: tree-rewrite-in-loop
        self.index += 1


def play_and_learn(env, agent, state, replay, steps):
    for _ in range(steps):
        reward = env.step(agent.act(state))
        replay.add(reward)
        state, loss = train_step(state, replay.seen)
    return state
