import jax
import optax


def train(model, opt, graphs, steps):
    """Called once to be compiled, and then in the loop: only that is the step."""

    @jax.jit
    def update(params, state, graphs):
        def loss_fn(params):
            logits = model.apply(params, graphs)
            return optax.softmax_cross_entropy(logits, graphs.labels).mean(), logits

        (_, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
        accuracy = (logits.argmax(-1) == graphs.labels.argmax(-1)).mean()
        updates, state = opt.update(grads, state)
        return optax.apply_updates(params, updates), state, accuracy

    params = model.init(jax.random.PRNGKey(3), graphs)
    state = opt.init(params)
    _, _, accuracy = update(params, state, graphs)
    print(f"initial accuracy = {100 * accuracy:.0f}%")
    for _ in range(steps):
        params, state, accuracy = update(params, state, graphs)
    print(f"final accuracy = {100 * accuracy:.0f}%")


if __name__ == "__main__":
    train(*setup())
