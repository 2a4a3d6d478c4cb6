"""Layers of Flax and Haiku, made where they are called, and lists that grow."""

import flax.linen as nn
import haiku as hk
import torch


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(64, (3, 3))(x)  # expect: bias-before-norm
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.relu(x)


def block(x, training):
    out = hk.Conv2D(64, kernel_shape=3)(x)  # expect: bias-before-norm
    out = hk.BatchNorm(True, True, 0.9)(out, training)
    return jax.nn.relu(out)


def layers():
    out = []
    out.append(torch.nn.Conv2d(3, 64, 3))  # expect: bias-before-norm
    out.append(torch.nn.BatchNorm2d(64))
    return torch.nn.Sequential(*out)
