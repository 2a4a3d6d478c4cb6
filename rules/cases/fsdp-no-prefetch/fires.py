from torch.distributed.fsdp import BackwardPrefetch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def wrap(model, policy):
    a = FSDP(model, auto_wrap_policy=policy, backward_prefetch=None)  # expect: fsdp-no-prefetch
    b = FSDP(model, auto_wrap_policy=policy, limit_all_gathers=False)  # expect: fsdp-no-prefetch
    c = FSDP(model, auto_wrap_policy=policy, backward_prefetch=BackwardPrefetch.BACKWARD_POST)  # expect: fsdp-no-prefetch
    return a, b, c


class Strategy:
    """Memory was short once."""

    def setup_module(self, module):
        return FSDP(  # expect: fsdp-no-prefetch
            module,
            auto_wrap_policy=self.policy,
            sharding_strategy=self.strategy,
            backward_prefetch=BackwardPrefetch.BACKWARD_POST,
            device_id=self.device,
        )

    def setup_teacher(self, module):
        return FSDP(module, auto_wrap_policy=self.policy, limit_all_gathers=False)  # expect: fsdp-no-prefetch


def shard(model, policy, mixed):
    for name, child in model.named_children():
        setattr(model, name, FSDP(child, mixed_precision=mixed, backward_prefetch=None))  # expect: fsdp-no-prefetch
    return model
