from torch.distributed.fsdp import BackwardPrefetch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def wrap(model, policy, config):
    a = FSDP(model, auto_wrap_policy=policy)
    b = FSDP(model, auto_wrap_policy=policy, backward_prefetch=BackwardPrefetch.BACKWARD_PRE)
    c = FSDP(model, auto_wrap_policy=policy, limit_all_gathers=config.limit)
    return a, b, c


class Sharded:
    """Gathers forward and backward, ahead of what is computed."""

    def __init__(self, model, policy, mixed):
        self.model = FSDP(
            model,
            auto_wrap_policy=policy,
            mixed_precision=mixed,
            forward_prefetch=True,
            backward_prefetch=BackwardPrefetch.BACKWARD_PRE,
            limit_all_gathers=True,
        )


def wrap_by_options(model, policy, options):
    prefetch = {"pre": BackwardPrefetch.BACKWARD_PRE, "none": None}[options.prefetch]
    return FSDP(model, auto_wrap_policy=policy, backward_prefetch=prefetch)
