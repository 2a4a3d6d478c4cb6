import jax
import jax.numpy as jnp


@jax.jit
def forward(layers, x):
    def body(x, layer):
        return jnp.tanh(x @ layer), None

    return jax.lax.scan(body, x, layers)[0]


def build(sizes):
    return [jnp.zeros((a, b)) for a, b in zip(sizes, sizes[1:])]


class Encoder:
    """Layers that differ from one another, outside of any compiled function."""

    def summary(self, params):
        lines = []
        for layer in params.layers:
            lines.append(f"{layer.name}: {layer.weight.shape}")
        return lines


@jax.jit
def stacked_forward(stacked, x):
    def body(index, x):
        layer = jax.tree.map(lambda leaf: leaf[index], stacked)
        return jnp.tanh(x @ layer["w"] + layer["b"])

    return jax.lax.fori_loop(0, 12, body, x)


def make_layers(config, key):
    layers = []
    for i in range(config.num_layers):
        layers.append(jnp.zeros((config.width, config.width)))
    return layers


class Losses:
    """Called on the host, once for all of them."""

    def report(self, metrics):
        for name in self.names:
            metrics[name] = float(metrics[name])
        return metrics


class Heads(nn.Module):
    def __call__(self, x):
        outputs = []
        for head in self.heads:  # each of its own: none is given what another gave
            outputs.append(head(x))
        return outputs


@jax.jit
def twice(params, x):
    for _ in range(2):  # as short unrolled
        x = jnp.tanh(apply(params, x))
    return x


@jax.jit
def penalty(params, weights):
    total = 0.0
    for name, value in params.items():  # of each kind one
        total += jnp.sum(value**2) * weights[name]
    return total
