"""Without a bias, or something else between the two."""

import flax.linen as nn
import haiku as hk
import torch


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(64, (3, 3), use_bias=False)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.Conv(64, (3, 3))(x)
        x = nn.relu(x)
        return nn.BatchNorm(use_running_average=not train)(x)


def block(x, training):
    out = hk.Conv2D(64, kernel_shape=3, with_bias=False)(x)
    return hk.BatchNorm(True, True, 0.9)(out, training)


def layers():
    out, other = [], []
    out.append(torch.nn.Conv2d(3, 64, 3))
    other.append(torch.nn.BatchNorm2d(64))
    out.append(torch.nn.ReLU())
    return torch.nn.Sequential(*out, *other)
