from torch.distributed.fsdp import BackwardPrefetch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def wrap(model, policy):
    a = FSDP(model, auto_wrap_policy=policy, backward_prefetch=None)  # expect: fsdp-no-prefetch
    b = FSDP(model, auto_wrap_policy=policy, limit_all_gathers=False)  # expect: fsdp-no-prefetch
    c = FSDP(model, auto_wrap_policy=policy, backward_prefetch=BackwardPrefetch.BACKWARD_POST)  # expect: fsdp-no-prefetch
    return a, b, c
