import functools

from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy


def wrap(model, block):
    policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={block})
    return FSDP(model, auto_wrap_policy=policy)


def wrap_blocks(model):
    for i, layer in enumerate(model.layers):
        model.layers[i] = FSDP(layer)
    return model
