import torch.nn as nn


def build(model):
    return nn.DataParallel(model)  # expect: data-parallel
