"""A pipeline of tf.data that makes each batch when the step asks for it."""

import jax
import jax.numpy as jnp
import tensorflow as tf
import tensorflow_datasets as tfds


@jax.jit
def train_step(state, batch):
    grads = jax.grad(loss_fn)(state.params, batch)
    return state.apply_gradients(grads=grads)


def train(state, images, config):
    dataset = tf.data.Dataset.from_tensor_slices(images)
    dataset = dataset.shuffle(10_000).repeat().batch(config.batch_size)
    iterator = dataset.as_numpy_iterator()  # expect: no-prefetch
    for step in range(config.steps):
        state = train_step(state, next(iterator))  # expect: no-prefetch
    return state


def train_on_digits(state):
    digits = tfds.load("mnist", split="train").shuffle(1024).batch(128)
    for batch in tfds.as_numpy(digits):  # expect: no-prefetch
        state = train_step(state, batch)
    return state
