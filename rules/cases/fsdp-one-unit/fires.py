import torch
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def wrap(model):
    return FSDP(model)  # expect: fsdp-one-unit


def wrap_large(model, device):
    model = FullyShardedDataParallel(model, device_id=device)  # expect: fsdp-one-unit
    return model


class Trainer:
    def setup(self):
        self.model = FSDP(self.model, use_orig_params=True)  # expect: fsdp-one-unit
