from torch.distributed.fsdp import BackwardPrefetch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def wrap(model, policy, config):
    a = FSDP(model, auto_wrap_policy=policy)
    b = FSDP(model, auto_wrap_policy=policy, backward_prefetch=BackwardPrefetch.BACKWARD_PRE)
    c = FSDP(model, auto_wrap_policy=policy, limit_all_gathers=config.limit)
    return a, b, c
