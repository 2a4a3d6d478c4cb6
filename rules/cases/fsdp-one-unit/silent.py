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


def wrap_tower(tower, policy, dtype):
    """Each tower by the policy of its blocks; the head is small."""
    options = dict(auto_wrap_policy=policy, use_orig_params=True)
    tower.vision = FSDP(tower.vision, **options)
    tower.text = FSDP(tower.text, **options)
    return tower.to(dtype)
